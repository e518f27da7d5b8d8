package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	pb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
)

// Each name is that of the requirement in the public kit where it has one.
func TestOperations(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(t *testing.T, b binding){
		"CORE-SEND-001": func(t *testing.T, b binding) {
			task := b.ask(t, message("tck-complete-task"))
			if s := task.GetStatus(); s.GetState() != pb.TaskState_TASK_STATE_COMPLETED || s.GetMessage().GetParts()[0].GetText() != "Hello from TCK" {
				t.Errorf("status is %v", s)
			}
		},
		"CORE-SEND-001 message": func(t *testing.T, b binding) {
			var r pb.SendMessageResponse
			b.must(t, "SendMessage", object{"message": message("tck-message-response")}, &r)
			if m := r.GetMessage(); m.GetParts()[0].GetText() != "Direct message response" || m.GetContextId() == "" {
				t.Errorf("the answer is %v", &r)
			}
		},
		"CORE-SEND-002": func(t *testing.T, b binding) {
			task := b.ask(t, message("tck-complete-task"))
			b.refuses(t, "SendMessage", object{"message": message("tck-complete-task", object{"taskId": task.GetId()})}, "UNSUPPORTED_OPERATION")
		},
		"CORE-SEND-003": func(t *testing.T, b binding) {
			m := message("tck-send-003", object{"parts": []object{{"raw": "dGNr", "mediaType": "application/x-unsupported-tck-type"}}})
			b.refuses(t, "SendMessage", object{"message": m}, "CONTENT_TYPE_NOT_SUPPORTED")
		},
		"CORE-GET-001": func(t *testing.T, b binding) {
			task := b.ask(t, message("tck-artifact-text"))
			var got pb.Task
			b.must(t, "GetTask", object{"id": task.GetId()}, &got)
			if got.GetId() != task.GetId() || got.GetArtifacts()[0].GetParts()[0].GetText() != "Generated text content" {
				t.Errorf("GetTask = %v", &got)
			}
		},
		"CORE-GET-002": func(t *testing.T, b binding) {
			b.refuses(t, "GetTask", object{"id": "no-such-task"}, "TASK_NOT_FOUND")
		},
		"CORE-CANCEL-001": func(t *testing.T, b binding) {
			task := b.ask(t, message("tck-input-required"))
			var got pb.Task
			b.must(t, "CancelTask", object{"id": task.GetId()}, &got)
			b.must(t, "CancelTask", object{"id": task.GetId()}, &got) // again: the same
			if got.GetStatus().GetState() != pb.TaskState_TASK_STATE_CANCELED {
				t.Errorf("CancelTask = %v", &got)
			}
		},
		"CORE-CANCEL-002": func(t *testing.T, b binding) {
			b.refuses(t, "CancelTask", object{"id": b.ask(t, message("tck-complete-task")).GetId()}, "TASK_NOT_CANCELABLE")
		},
		"CORE-CANCEL-003": func(t *testing.T, b binding) {
			b.refuses(t, "CancelTask", object{"id": "no-such-task"}, "TASK_NOT_FOUND")
		},
		"CORE-EXECUTION-MODE-001": func(t *testing.T, b binding) {
			if s := b.ask(t, message("tck-delayed-complete"), object{"returnImmediately": false}).GetStatus().GetState(); s != pb.TaskState_TASK_STATE_COMPLETED {
				t.Errorf("a call that waits answered with %v", s)
			}
		},
		"CORE-EXECUTION-MODE-002": func(t *testing.T, b binding) {
			task := b.ask(t, message("tck-delayed-complete"), object{"returnImmediately": true})
			if s := task.GetStatus().GetState(); s != pb.TaskState_TASK_STATE_SUBMITTED && s != pb.TaskState_TASK_STATE_WORKING {
				t.Errorf("a call that does not wait answered with %v", s)
			}
			b.becomes(t, task.GetId(), pb.TaskState_TASK_STATE_COMPLETED)
		},
		"AUTH-INTASK-002": func(t *testing.T, b binding) {
			if s := b.ask(t, message("tck-auth-required")).GetStatus().GetState(); s != pb.TaskState_TASK_STATE_AUTH_REQUIRED {
				t.Errorf("the state is %v", s)
			}
		},
		"rejected and failed": func(t *testing.T, b binding) {
			for behaviour, want := range map[string]pb.TaskState{"tck-reject-task": pb.TaskState_TASK_STATE_REJECTED, "tck-task-failure": pb.TaskState_TASK_STATE_FAILED} {
				if s := b.ask(t, message(behaviour)).GetStatus(); s.GetState() != want || s.GetMessage() == nil {
					t.Errorf("%s: %v, want %v with a message", behaviour, s, want)
				}
			}
		},
		"DM-ART-001": func(t *testing.T, b binding) {
			for behaviour, want := range map[string]string{
				"tck-artifact-text":     `{"text":"Generated text content"}`,
				"tck-artifact-data":     `{"data":{"count":42,"key":"value"}}`,
				"tck-artifact-file":     `{"raw":"dGNr","filename":"output.txt","mediaType":"text/plain"}`,
				"tck-artifact-file-url": `{"url":"https://example.com/output.txt","filename":"output.txt","mediaType":"text/plain"}`,
			} {
				var wanted pb.Part
				strict(t, []byte(want), &wanted)
				got := b.ask(t, message(behaviour)).GetArtifacts()
				if len(got) != 1 || len(got[0].GetParts()) != 1 || got[0].GetParts()[0].String() != wanted.String() {
					t.Errorf("%s: artifacts %v, want one of %v", behaviour, got, &wanted)
				}
			}
		},
		"DM-SERIAL-001, 002, 003": func(t *testing.T, b binding) {
			result, _ := b.call(t, "SendMessage", object{"message": message("tck-artifact-data")})
			if snake := regexp.MustCompile(`"[a-z]+(_[a-z]+)+":`).FindString(string(result)); snake != "" {
				t.Errorf("%s has the member %s", result, snake)
			}
			if stamp := regexp.MustCompile(`"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"`); !stamp.Match(result) {
				t.Errorf("%s has no time in UTC", result)
			}
		},
		"DM-SERIAL-005": func(t *testing.T, b binding) {
			var r pb.SendMessageResponse
			b.must(t, "SendMessage", object{"message": message("tck-complete-task", object{"tckUnknownField": "ignored"}), "tckExtraParam": 42}, &r)
		},
	})
}

func TestConversations(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(t *testing.T, b binding){
		"CORE-MULTI-001a": func(t *testing.T, b binding) {
			if b.ask(t, message("tck-complete-task")).GetContextId() == "" {
				t.Error("no context id was made")
			}
		},
		"CORE-MULTI-002": func(t *testing.T, b binding) {
			if got := b.ask(t, message("tck-complete-task", object{"contextId": "mine"})).GetContextId(); got != "mine" {
				t.Errorf("the context is %q, want mine", got)
			}
		},
		"CORE-MULTI-003": func(t *testing.T, b binding) {
			one, two := b.ask(t, object{"messageId": "1", "role": "ROLE_USER", "parts": []object{{"text": "a"}}}), b.ask(t, object{"messageId": "1", "role": "ROLE_USER", "parts": []object{{"text": "b"}}})
			if one.GetId() == two.GetId() {
				t.Error("two messages with the careless id 1 are one task")
			}
		},
		"CORE-MULTI-004": func(t *testing.T, b binding) {
			b.refuses(t, "SendMessage", object{"message": message("tck-complete-task", object{"taskId": "no-such-task"})}, "TASK_NOT_FOUND")
		},
		"CORE-MULTI-005": func(t *testing.T, b binding) {
			task := b.ask(t, message("tck-input-required"))
			next := b.ask(t, message("tck-complete-task", object{"taskId": task.GetId()}))
			if next.GetContextId() != task.GetContextId() || next.GetStatus().GetState() != pb.TaskState_TASK_STATE_COMPLETED {
				t.Errorf("the follow-up is %v of context %s", next, task.GetContextId())
			}
		},
		"CORE-MULTI-006": func(t *testing.T, b binding) {
			task := b.ask(t, message("tck-input-required"))
			b.refuses(t, "SendMessage", object{"message": message("tck-complete-task", object{"taskId": task.GetId(), "contextId": "another"})}, "INVALID_PARAMS")
		},
		"CORE-HIST": func(t *testing.T, b binding) {
			task := b.ask(t, message("tck-input-required"))
			last := message("tck-complete-task", object{"taskId": task.GetId(), "parts": []object{{"text": "the last word"}}})
			if got := b.ask(t, last, object{"historyLength": 0}); len(got.GetHistory()) != 0 {
				t.Errorf("historyLength 0 on SendMessage gave %v", got.GetHistory())
			}
			for length, want := range []int{0, 1, 2} {
				var got pb.Task
				b.must(t, "GetTask", object{"id": task.GetId(), "historyLength": length}, &got)
				if len(got.GetHistory()) != want {
					t.Errorf("historyLength %d gave %d messages", length, len(got.GetHistory()))
				}
			}
			var all pb.Task
			b.must(t, "GetTask", object{"id": task.GetId()}, &all)
			if h := all.GetHistory(); len(h) < 3 || h[0].GetRole() != pb.Role_ROLE_USER || h[len(h)-1].GetParts()[0].GetText() != "the last word" {
				t.Errorf("the history is %v: want the two messages in their order and the agent's question between", h)
			}
		},
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(t *testing.T, b binding){
		"CORE-LIST-002 to 005": func(t *testing.T, b binding) {
			context := message("list")["messageId"]
			for range 5 {
				b.ask(t, message("tck-artifact-text", object{"contextId": context}))
			}
			var ids []string
			var stamps []time.Time
			for page, token := 1, ""; ; page++ {
				params := object{"contextId": context, "pageSize": 2}
				if token != "" {
					params["pageToken"] = token
				}
				var got pb.ListTasksResponse
				raw := b.must(t, "ListTasks", params, &got)
				if !strings.Contains(string(raw), `"nextPageToken"`) || strings.Contains(string(raw), `"artifacts"`) || got.GetTotalSize() != 5 || got.GetPageSize() != 2 {
					t.Errorf("page %d is %s", page, raw)
				}
				for _, task := range got.GetTasks() {
					ids, stamps = append(ids, task.GetId()), append(stamps, task.GetStatus().GetTimestamp().AsTime())
				}
				if token = got.GetNextPageToken(); token == "" || page > 5 {
					break
				}
			}
			if len(ids) != 5 {
				t.Errorf("three pages have %d tasks, want 5", len(ids))
			}
			for i := 1; i < len(stamps); i++ {
				if stamps[i].After(stamps[i-1]) {
					t.Errorf("task %d is newer than the one before it", i)
				}
			}
			var full pb.ListTasksResponse
			b.must(t, "ListTasks", object{"contextId": context, "includeArtifacts": true, "status": "TASK_STATE_COMPLETED"}, &full)
			if len(full.GetTasks()) != 5 || len(full.GetTasks()[0].GetArtifacts()) != 1 {
				t.Errorf("with artifacts: %v", &full)
			}
		},
		"none": func(t *testing.T, b binding) {
			var got pb.ListTasksResponse
			raw := b.must(t, "ListTasks", object{"contextId": "of nobody"}, &got)
			var members map[string]json.RawMessage
			if err := json.Unmarshal(raw, &members); err != nil || string(members["tasks"]) != "[]" || string(members["nextPageToken"]) != `""` {
				t.Errorf("no tasks are %s, want an empty list and an empty token", raw)
			}
		},
		"refused": func(t *testing.T, b binding) {
			for _, params := range []object{{"pageSize": 0}, {"pageSize": 101}, {"pageSize": -1}, {"pageToken": "?"}, {"historyLength": -1}, {"status": "DONE"}, {"statusTimestampAfter": "yesterday"}} {
				b.refuses(t, "ListTasks", params, "INVALID_PARAMS")
			}
		},
	})
}

// becomes waits until a task has a state.
func (b binding) becomes(t *testing.T, id string, want pb.TaskState) {
	t.Helper()
	var got pb.Task
	for range 100 {
		b.must(t, "GetTask", object{"id": id}, &got)
		if got.GetStatus().GetState() == want {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the task is %v, want %v", &got, want)
}

// each runs every case over every binding.
func each(t *testing.T, cases map[string]func(t *testing.T, b binding)) {
	t.Helper()
	bound := bindings(t, start(t, config{}))
	for name, check := range cases {
		for _, b := range bound {
			t.Run(name+" "+b.name, func(t *testing.T) {
				t.Parallel()
				check(t, b)
			})
		}
	}
}
