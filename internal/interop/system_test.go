package interop

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// entries is the directory of the local system.
func entries(t *testing.T) map[string]string {
	t.Helper()
	r, err := http.Get(hosting + "/.well-known/agents.json")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var directory struct {
		Agents []struct{ Name, URL string }
	}
	if err := json.NewDecoder(r.Body).Decode(&directory); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, a := range directory.Agents {
		all[a.Name] = a.URL
	}
	return all
}

// clarified is the scope of a real project.
func clarified(t *testing.T) map[string]any {
	t.Helper()
	raw, err := os.ReadFile("../../testdata/kitchen.json")
	if err != nil {
		t.Fatal(err)
	}
	var kitchen map[string]any
	if err := json.Unmarshal(raw, &kitchen); err != nil {
		t.Fatal(err)
	}
	return kitchen
}

// An agent of TrueCost does its work for the Go client, whichever way it talks.
func TestGoClientAsksAnAgent(t *testing.T) {
	t.Parallel()
	kitchen := clarified(t)
	at := entries(t)["location"]
	for _, b := range bindings() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			c, card := b.client(t, at)
			if card.Name != "location" || len(card.Signatures) != 2 {
				t.Errorf("card = %+v, want that of location, signed", card)
			}
			m := sdk.NewMessage(sdk.MessageRoleUser, sdk.NewDataPart(map[string]any{
				"estimate_id": "est-interop", "input": map[string]any{"clarification_output": kitchen},
			}))
			hook := newWebhook(t)
			asked := &sdk.SendMessageRequest{Message: m, Config: &sdk.SendMessageConfig{PushConfig: &sdk.PushConfig{URL: hook.URL, Token: "t-1"}}}
			got, err := c.SendMessage(t.Context(), asked)
			task, ok := got.(*sdk.Task)
			if err != nil || !ok || task.Status.State != sdk.TaskStateCompleted || len(task.Artifacts) != 1 {
				t.Fatalf("SendMessage = %+v, %v, want a completed task", got, err)
			}
			if out, ok := task.Artifacts[0].Parts[0].Data().(map[string]any); !ok || out["state"] != "CO" {
				t.Errorf("output = %v, want a place in CO", task.Artifacts[0].Parts[0].Data())
			}
			hook.wait(t, completed) // by way of the queue
			if extended, err := c.GetExtendedAgentCard(t.Context(), &sdk.GetExtendedAgentCardRequest{}); err != nil || len(extended.Capabilities.Extensions) != 2 {
				t.Errorf("extended card = %+v, %v, want schemas and limits", extended, err)
			}
			again, err := c.SendMessage(t.Context(), &sdk.SendMessageRequest{Message: m})
			if same, ok := again.(*sdk.Task); err != nil || !ok || same.ID != task.ID {
				t.Errorf("the same message again = %+v, %v, want the task %s", again, err, task.ID)
			}
		})
	}
}

// The orchestrator's task is a whole run: it says which agent is at work, and ends
// with the estimate.
func TestGoClientWatchesAnEstimate(t *testing.T) {
	t.Parallel()
	at := entries(t)["orchestrator"]
	for _, b := range bindings() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			c, _ := b.client(t, at)
			m := sdk.NewMessage(sdk.MessageRoleUser, sdk.NewDataPart(map[string]any{
				"estimateId": "est-" + string(sdk.NewTaskID()), "clarificationOutput": clarified(t),
			}))
			var said []string
			var total any
			for e, err := range c.SendStreamingMessage(t.Context(), &sdk.SendMessageRequest{Message: m}) {
				if err != nil {
					t.Fatalf("after %v: %v", said, err)
				}
				switch e := e.(type) {
				case *sdk.TaskStatusUpdateEvent:
					said = append(said, string(e.Status.State))
				case *sdk.TaskArtifactUpdateEvent:
					if out, ok := e.Artifact.Parts[0].Data().(map[string]any); ok {
						total = out["executiveSummary"].(map[string]any)["totalCost"]
					}
				}
			}
			if len(said) < 2 || said[0] != string(sdk.TaskStateWorking) || said[len(said)-1] != string(sdk.TaskStateCompleted) {
				t.Errorf("states = %v, want working and in the end completed", said)
			}
			if f, ok := total.(float64); !ok || f < 50_000 || f > 200_000 {
				t.Errorf("total = %v, want that of a kitchen", total)
			}
		})
	}
}

// Who cancels the task of an estimate cancels its run.
func TestGoClientCancelsAnEstimate(t *testing.T) {
	t.Parallel()
	c, _ := bindings()[0].client(t, entries(t)["orchestrator"])
	id := "est-" + string(sdk.NewTaskID())
	m := sdk.NewMessage(sdk.MessageRoleUser, sdk.NewDataPart(map[string]any{"estimateId": id, "clarificationOutput": clarified(t)}))
	for e, err := range c.SendStreamingMessage(t.Context(), &sdk.SendMessageRequest{Message: m}) {
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := e.(*sdk.TaskStatusUpdateEvent); ok && s.Status.State == sdk.TaskStateWorking {
			if got, err := c.CancelTask(t.Context(), &sdk.CancelTaskRequest{ID: s.TaskID}); err != nil || got.Status.State != sdk.TaskStateCanceled {
				t.Errorf("CancelTask = %+v, %v, want it canceled", got, err)
			}
		}
	}
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for status, tries := "", 0; status != "canceled"; tries++ { // the worker hears of it within a second
		if status = estimateStatus(t, id); status != "canceled" && (status != "processing" || tries > 100) {
			t.Fatalf("the estimate is %s, want canceled", status)
		}
		<-look.C
	}
}

// estimateStatus asks as a frontend does.
func estimateStatus(t *testing.T, id string) string {
	t.Helper()
	r, err := http.Post(functions+"/get_pipeline_status", "application/json", strings.NewReader(`{"data":{"estimateId":"`+id+`"}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var answer struct {
		Result struct {
			Data struct{ Status string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer.Result.Data.Status
}
