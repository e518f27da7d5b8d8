package main

import (
	"slices"
	"testing"

	pb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
)

func TestStreams(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(t *testing.T, b binding){
		"CORE-STREAM-001 and 003": func(t *testing.T, b binding) {
			for behaviour, words := range map[string]string{
				"tck-stream-001": "Stream hello from TCK", "tck-stream-003": "Stream task lifecycle",
				"tck-stream-ordering-001": "Ordered output", "tck-stream-artifact-text": "Streamed text content",
			} {
				events := b.open(t, "SendStreamingMessage", object{"message": message(behaviour)}).rest(t)
				if got, want := told(events), []string{"task", "TASK_STATE_WORKING", words, "TASK_STATE_COMPLETED"}; !slices.Equal(got, want) {
					t.Errorf("%s: the stream says %q, want %q", behaviour, got, want)
				}
			}
		},
		"CORE-STREAM-002": func(t *testing.T, b binding) {
			events := b.open(t, "SendStreamingMessage", object{"message": message("tck-message-response")}).rest(t)
			if len(events) != 1 || events[0].GetMessage() == nil {
				t.Errorf("the stream of a message is %v", events)
			}
		},
		"chunks": func(t *testing.T, b binding) {
			events := b.open(t, "SendStreamingMessage", object{"message": message("tck-stream-artifact-chunked")}).rest(t)
			if got, want := told(events), []string{"task", "TASK_STATE_WORKING", "chunk-1 ", "+chunk-2.", "TASK_STATE_COMPLETED"}; !slices.Equal(got, want) {
				t.Errorf("the stream says %q, want %q", got, want)
			}
			var task pb.Task
			b.must(t, "GetTask", object{"id": events[0].GetTask().GetId()}, &task)
			text := ""
			for _, p := range task.GetArtifacts()[0].GetParts() {
				text += p.GetText()
			}
			if text != "chunk-1 chunk-2" || len(task.GetArtifacts()) != 1 {
				t.Errorf("the artifacts are %v", task.GetArtifacts())
			}
		},
		"STREAM-SUB-001, 002 and STREAM-ORDER-002 to 004": func(t *testing.T, b binding) {
			task := b.ask(t, message("tck-input-required"))
			var open []*stream
			for range 3 {
				s := b.open(t, "SubscribeToTask", object{"id": task.GetId()})
				if first, ok := s.next(t); !ok || first.GetTask().GetId() != task.GetId() {
					t.Fatalf("the first event is %v, want the task", first)
				}
				open = append(open, s)
			}
			_ = open[0].resp.Body.Close() // one listener leaves
			b.ask(t, message("tck-complete-task", object{"taskId": task.GetId()}))
			one, two := told(open[1].rest(t)), told(open[2].rest(t))
			if !slices.Equal(one, two) || len(one) == 0 || one[len(one)-1] != "TASK_STATE_COMPLETED" {
				t.Errorf("two listeners heard %q and %q", one, two)
			}
		},
		"STREAM-SUB-003": func(t *testing.T, b binding) {
			b.refuses(t, "SubscribeToTask", object{"id": b.ask(t, message("tck-complete-task")).GetId()}, "UNSUPPORTED_OPERATION")
		},
		"STREAM-SUB-004": func(t *testing.T, b binding) {
			b.refuses(t, "SubscribeToTask", object{"id": "no-such-task"}, "TASK_NOT_FOUND")
		},
		"re-attach": func(t *testing.T, b binding) {
			s := b.open(t, "SendStreamingMessage", object{"message": message("test-resubscribe-message-id")})
			first, _ := s.next(t)
			_ = s.resp.Body.Close() // the caller leaves, the work goes on
			events := b.open(t, "SubscribeToTask", object{"id": first.GetTask().GetId()}).rest(t)
			if got := told(events); got[0] != "task" || got[len(got)-1] != "TASK_STATE_COMPLETED" {
				t.Errorf("the second stream says %q", got)
			}
		},
		"cancel while at work": func(t *testing.T, b binding) {
			s := b.open(t, "SendStreamingMessage", object{"message": message("tck-cancel")})
			first, _ := s.next(t)
			var task pb.Task
			b.must(t, "CancelTask", object{"id": first.GetTask().GetId()}, &task)
			if got := told(s.rest(t)); len(got) == 0 || got[len(got)-1] != "TASK_STATE_CANCELED" {
				t.Errorf("the stream of a canceled task says %q", got)
			}
		},
	})
}

// told says in a word each what events tell: the task, a state, the text of an
// artifact (+ appended, . the last chunk).
func told(events []*pb.StreamResponse) []string {
	var words []string
	for _, e := range events {
		switch {
		case e.GetTask() != nil:
			words = append(words, "task")
		case e.GetStatusUpdate() != nil:
			words = append(words, e.GetStatusUpdate().GetStatus().GetState().String())
		case e.GetArtifactUpdate() != nil:
			u := e.GetArtifactUpdate()
			w := u.GetArtifact().GetParts()[0].GetText()
			if u.GetAppend() {
				w = "+" + w
				if u.GetLastChunk() {
					w += "."
				}
			}
			words = append(words, w)
		default:
			words = append(words, "message")
		}
	}
	return words
}
