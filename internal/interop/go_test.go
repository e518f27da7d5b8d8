package interop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// binding is one way in which the Go client talks.
type binding struct {
	name   string
	early  bool
	lists  bool // there is a way to list tasks
	deaf   bool // the client takes a plain answer to a request for a stream for a stream of nothing
	option a2aclient.FactoryOption
	parser agentcard.Parser
}

func bindings() []binding {
	return []binding{
		{"1.0 JSON-RPC", false, true, true, a2aclient.WithJSONRPCTransport(nil), nil},
		{"1.0 HTTP+JSON", false, true, false, a2aclient.WithRESTTransport(nil), nil},
		{"0.3 JSON-RPC", true, false, true, a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{}), a2av0.NewAgentCardParser()},
		{"0.3 HTTP+JSON", true, true, false, a2av0.WithRESTTransport(a2av0.RESTTransportConfig{}), a2av0.NewAgentCardParser()},
	}
}

// client reads the card and connects as it says.
func (b binding) client(t *testing.T, base string) (*a2aclient.Client, *sdk.AgentCard) {
	t.Helper()
	resolver := agentcard.NewResolver(nil)
	resolver.CardParser = b.parser
	card, err := resolver.Resolve(t.Context(), base)
	if err != nil {
		t.Fatalf("read the card: %v", err)
	}
	c, err := a2aclient.NewFromCard(t.Context(), card, a2aclient.WithDefaultsDisabled(), b.option)
	if err != nil {
		t.Fatalf("connect as the card says: %v", err)
	}
	return c, card
}

// say is a message that asks the conformance agent for a behaviour.
func say(behaviour string) *sdk.SendMessageRequest {
	m := sdk.NewMessage(sdk.MessageRoleUser, sdk.NewTextPart(behaviour))
	return &sdk.SendMessageRequest{Message: m}
}

// begin sends a message and does not wait for its end.
func begin(t *testing.T, c *a2aclient.Client, behaviour string) *sdk.Task {
	t.Helper()
	req := say(behaviour)
	req.Config = &sdk.SendMessageConfig{ReturnImmediately: true}
	got, err := c.SendMessage(t.Context(), req)
	task, ok := got.(*sdk.Task)
	if err != nil || !ok || task.Status.State.Terminal() {
		t.Fatalf("SendMessage(%s), without waiting = %+v, %v, want a task at work", behaviour, got, err)
	}
	return task
}

func TestGoClient(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		run  func(*testing.T, *a2aclient.Client, binding)
	}{
		{"send", goSend},
		{"stream", goStream},
		{"get and list", goGetAndList},
		{"cancel", goCancel},
		{"attach again", goAttach},
		{"push", goPush},
		{"unknown", goUnknown},
		{"extended card", goExtended},
	}
	for _, b := range bindings() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			for _, tt := range cases {
				t.Run(tt.name, func(t *testing.T) {
					t.Parallel()
					c, card := b.client(t, conformance)
					if card.Name != "conformance" || !card.Capabilities.Streaming || !card.Capabilities.PushNotifications || len(card.Skills) != 1 {
						t.Errorf("card = %+v", card)
					}
					tt.run(t, c, b)
				})
			}
		})
	}
}

func goSend(t *testing.T, c *a2aclient.Client, _ binding) {
	got, err := c.SendMessage(t.Context(), say("tck-artifact-text"))
	task, ok := got.(*sdk.Task)
	if err != nil || !ok || task.Status.State != sdk.TaskStateCompleted || len(task.Artifacts) != 1 || task.Artifacts[0].Parts[0].Text() != "Generated text content" {
		t.Errorf("SendMessage = %+v, %v, want a completed task with one text", got, err)
	}
	got, err = c.SendMessage(t.Context(), say("tck-message-response"))
	if m, ok := got.(*sdk.Message); err != nil || !ok || m.Parts[0].Text() != "Direct message response" {
		t.Errorf("SendMessage = %+v, %v, want a message", got, err)
	}
	got, err = c.SendMessage(t.Context(), say("tck-task-failure"))
	if task, ok := got.(*sdk.Task); err != nil || !ok || task.Status.State != sdk.TaskStateFailed || task.Status.Message == nil {
		t.Errorf("SendMessage = %+v, %v, want a failed task with a word", got, err)
	}
	got, err = c.SendMessage(t.Context(), say("tck-artifact-data"))
	task, ok = got.(*sdk.Task)
	if err != nil || !ok || fmt.Sprint(task.Artifacts[0].Parts[0].Data()) != "map[count:42 key:value]" {
		t.Errorf("SendMessage = %+v, %v, want data", got, err)
	}
}

// told names the events of a stream, and joins the texts of its artifacts.
func told(t *testing.T, events func(func(sdk.Event, error) bool)) (names []string, text string, last sdk.TaskState) {
	t.Helper()
	var b strings.Builder
	for e, err := range events {
		if err != nil {
			t.Fatalf("stream after %v: %v", names, err)
		}
		switch e := e.(type) {
		case *sdk.Task:
			names, last = append(names, "task"), e.Status.State
		case *sdk.TaskStatusUpdateEvent:
			names, last = append(names, "status"), e.Status.State
		case *sdk.TaskArtifactUpdateEvent:
			names = append(names, "artifact")
			b.WriteString(e.Artifact.Parts[0].Text())
		default:
			names = append(names, fmt.Sprintf("%T", e))
		}
	}
	return names, b.String(), last
}

func goStream(t *testing.T, c *a2aclient.Client, _ binding) {
	names, text, last := told(t, c.SendStreamingMessage(t.Context(), say("tck-stream-artifact-chunked")))
	if names[0] != "task" || text != "chunk-1 chunk-2" || last != sdk.TaskStateCompleted {
		t.Errorf("stream = %v with %q, ended %s; want a task, two chunks and completed", names, text, last)
	}
	names, _, _ = told(t, c.SendStreamingMessage(t.Context(), say("tck-message-response")))
	if !slices.Equal(names, []string{"*a2a.Message"}) {
		t.Errorf("stream of a message = %v, want the message alone", names)
	}
}

func goGetAndList(t *testing.T, c *a2aclient.Client, b binding) {
	sent, err := c.SendMessage(t.Context(), say("tck-complete-task"))
	if err != nil {
		t.Fatal(err)
	}
	task := sent.(*sdk.Task)
	got, err := c.GetTask(t.Context(), &sdk.GetTaskRequest{ID: task.ID})
	if err != nil || got.ID != task.ID || got.ContextID != task.ContextID || got.Status.State != sdk.TaskStateCompleted || len(got.History) == 0 {
		t.Errorf("GetTask = %+v, %v, want the task that was sent", got, err)
	}
	if !b.lists {
		return
	}
	list, err := c.ListTasks(t.Context(), &sdk.ListTasksRequest{ContextID: task.ContextID})
	if err != nil || len(list.Tasks) != 1 || list.Tasks[0].ID != task.ID {
		t.Errorf("ListTasks = %+v, %v, want the one of the context", list, err)
	}
}

func goCancel(t *testing.T, c *a2aclient.Client, _ binding) {
	task := begin(t, c, "tck-cancel")
	got, err := c.CancelTask(t.Context(), &sdk.CancelTaskRequest{ID: task.ID})
	if err != nil || got.Status.State != sdk.TaskStateCanceled {
		t.Errorf("CancelTask = %+v, %v, want it canceled", got, err)
	}
	done, err := c.SendMessage(t.Context(), say("tck-complete-task"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CancelTask(t.Context(), &sdk.CancelTaskRequest{ID: done.(*sdk.Task).ID}); !errors.Is(err, sdk.ErrTaskNotCancelable) {
		t.Errorf("CancelTask of what is done = %v, want %v", err, sdk.ErrTaskNotCancelable)
	}
}

// Two attach to a task that a third began: both see its end.
func goAttach(t *testing.T, c *a2aclient.Client, b binding) {
	task := begin(t, c, "test-resubscribe-message-id")
	other, _ := b.client(t, conformance)
	ends := make(chan sdk.TaskState, 2)
	for _, client := range []*a2aclient.Client{c, other} {
		go func() {
			_, _, last := told(t, client.SubscribeToTask(t.Context(), &sdk.SubscribeToTaskRequest{ID: task.ID}))
			ends <- last
		}()
	}
	for range 2 {
		if last := <-ends; last != sdk.TaskStateCompleted {
			t.Errorf("a listener saw %s at the end, want completed", last)
		}
	}
}

func goPush(t *testing.T, c *a2aclient.Client, b binding) {
	hook := newWebhook(t)
	req := say("tck-complete-task")
	req.Config = &sdk.SendMessageConfig{PushConfig: &sdk.PushConfig{URL: hook.URL, Token: "t-1"}}
	sent, err := c.SendMessage(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	task := sent.(*sdk.Task)
	got := hook.wait(t, completed)
	if got.Header.Get("A2a-Notification-Token") != "t-1" || got.Header.Get("X-A2a-Notification-Token") != "t-1" {
		t.Errorf("headers of a notification = %v, want the token", got.Header)
	}
	if _, isTask := got.Body["kind"]; isTask != b.early {
		t.Errorf("body of a notification = %v, want a task in 0.3 and an event in 1.0", got.Body)
	}
	goHooks(t, c, task.ID, hook.URL)
}

// goHooks makes, reads, lists and removes configurations.
func goHooks(t *testing.T, c *a2aclient.Client, task sdk.TaskID, url string) {
	t.Helper()
	ctx := t.Context()
	made, err := c.CreateTaskPushConfig(ctx, &sdk.PushConfig{TaskID: task, ID: "second", URL: url})
	if err != nil || made.ID != "second" {
		t.Fatalf("CreateTaskPushConfig = %+v, %v", made, err)
	}
	if got, err := c.GetTaskPushConfig(ctx, &sdk.GetTaskPushConfigRequest{TaskID: task, ID: "second"}); err != nil || got.URL != url {
		t.Errorf("GetTaskPushConfig = %+v, %v", got, err)
	}
	if all, err := c.ListTaskPushConfigs(ctx, &sdk.ListTaskPushConfigRequest{TaskID: task}); err != nil || len(all) != 2 {
		t.Errorf("ListTaskPushConfigs = %+v, %v, want two", all, err)
	}
	if err := c.DeleteTaskPushConfig(ctx, &sdk.DeleteTaskPushConfigRequest{TaskID: task, ID: "second"}); err != nil {
		t.Errorf("DeleteTaskPushConfig = %v", err)
	}
	if all, err := c.ListTaskPushConfigs(ctx, &sdk.ListTaskPushConfigRequest{TaskID: task}); err != nil || len(all) != 1 {
		t.Errorf("ListTaskPushConfigs after one was removed = %+v, %v, want one", all, err)
	}
}

func goUnknown(t *testing.T, c *a2aclient.Client, b binding) {
	id := sdk.NewTaskID()
	asks := map[string]func(context.Context) error{
		"GetTask": func(ctx context.Context) error { _, err := c.GetTask(ctx, &sdk.GetTaskRequest{ID: id}); return err },
		"CancelTask": func(ctx context.Context) error {
			_, err := c.CancelTask(ctx, &sdk.CancelTaskRequest{ID: id})
			return err
		},
		"SubscribeToTask": func(ctx context.Context) error {
			for e, err := range c.SubscribeToTask(ctx, &sdk.SubscribeToTaskRequest{ID: id}) {
				if err == nil {
					t.Errorf("SubscribeToTask(unknown) told %+v", e)
				}
				return err
			}
			if b.deaf {
				return sdk.ErrTaskNotFound
			}
			return nil
		},
		"SendMessage": func(ctx context.Context) error {
			req := say("tck-complete-task")
			req.Message.TaskID = id
			_, err := c.SendMessage(ctx, req)
			return err
		},
		"GetTaskPushConfig": func(ctx context.Context) error {
			_, err := c.GetTaskPushConfig(ctx, &sdk.GetTaskPushConfigRequest{TaskID: id, ID: "x"})
			return err
		},
	}
	for name, ask := range asks {
		if err := ask(t.Context()); !errors.Is(err, sdk.ErrTaskNotFound) {
			t.Errorf("%s(unknown) = %v, want %v", name, err, sdk.ErrTaskNotFound)
		}
	}
}

func goExtended(t *testing.T, c *a2aclient.Client, _ binding) {
	card, err := c.GetExtendedAgentCard(t.Context(), &sdk.GetExtendedAgentCardRequest{})
	if err != nil || card.Name != "conformance" || len(card.Skills) != 1 || len(card.Skills[0].Examples) < 2 {
		t.Errorf("GetExtendedAgentCard = %+v, %v, want the card with all examples", card, err)
	}
}
