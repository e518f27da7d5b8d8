package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	pb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
)

func TestPushConfigurations(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(t *testing.T, b binding){
		"PUSH-CREATE, GET, LIST, DEL": func(t *testing.T, b binding) {
			id := b.ask(t, message("tck-complete-task")).GetId()
			hook := object{"taskId": id, "id": "mine", "url": "https://example.com/tck-push-webhook", "token": "t"}
			var made, got pb.TaskPushNotificationConfig
			b.must(t, "CreateTaskPushNotificationConfig", hook, &made)
			b.must(t, "GetTaskPushNotificationConfig", object{"taskId": id, "id": "mine"}, &got)
			if made.String() != got.String() || got.GetUrl() != hook["url"] || got.GetTaskId() != id {
				t.Errorf("made %v, got %v", &made, &got)
			}
			var list pb.ListTaskPushNotificationConfigsResponse
			b.must(t, "ListTaskPushNotificationConfigs", object{"taskId": id}, &list)
			if len(list.GetConfigs()) != 1 || list.GetConfigs()[0].GetId() != "mine" {
				t.Errorf("the list is %v", &list)
			}
			for range 2 { // the second time there is nothing to remove, and no error
				if result, w := b.call(t, "DeleteTaskPushNotificationConfig", object{"taskId": id, "id": "mine"}); w != nil {
					t.Errorf("delete = %s, %+v", result, *w)
				}
			}
			b.refuses(t, "GetTaskPushNotificationConfig", object{"taskId": id, "id": "mine"}, "TASK_NOT_FOUND")
			b.refuses(t, "ListTaskPushNotificationConfigs", object{"taskId": "no-such-task"}, "TASK_NOT_FOUND")
		},
		"PUSH-DELIVER-001 to 003": func(t *testing.T, b binding) {
			type delivery struct {
				header http.Header
				body   []byte
			}
			got := make(chan delivery, 100)
			receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got <- delivery{r.Header, body}
			}))
			t.Cleanup(receiver.Close)
			hook := object{"id": "mine", "url": receiver.URL + "/hook", "authentication": object{"scheme": "Bearer", "credentials": "secret"}, "token": "mark"}
			id := b.ask(t, message("tck-input-required"), object{"taskPushNotificationConfig": hook}).GetId()
			b.ask(t, message("tck-complete-task", object{"taskId": id}))
			for limit := time.After(20 * time.Second); ; {
				select {
				case d := <-got:
					if d.header.Get("Authorization") != "Bearer secret" || d.header.Get("A2A-Notification-Token") != "mark" || d.header.Get("Content-Type") != "application/a2a+json" {
						t.Errorf("the headers are %v", d.header)
					}
					var e pb.StreamResponse
					strict(t, d.body, &e)
					if e.GetStatusUpdate().GetStatus().GetState() == pb.TaskState_TASK_STATE_COMPLETED {
						return
					}
				case <-limit:
					t.Fatal("nobody was told of the end")
				}
			}
		},
	})
}
