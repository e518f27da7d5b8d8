package deadletter

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"truecost.dev/shared/runner"
)

// A job of the queue of tasks is told to the operator and left to the sweep: no
// run is opened for it. Anything else is a run's.
func TestJobsAreTold(t *testing.T) {
	t.Parallel()
	opened := errors.New("a run was asked for")
	var log bytes.Buffer
	handle := Handle(func() (*runner.Runner, error) { return nil, opened }, slog.New(slog.NewJSONHandler(&log, nil)))
	given := map[string]string{attempts: "20", subscription: "agent_work"}
	if err := handle(t.Context(), []byte(`{"do":"tell","agent":"cost","task":"t"}`), given); err != nil {
		t.Errorf("Handle(a job) = %v, want it told", err)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("log = %s, %v, want one line", &log, err)
	}
	for name, want := range map[string]string{
		"msg": "dead letter", "level": "ERROR", "agent": "cost", "task": "t", "do": "tell", "reason": "delivered 20 times by agent_work",
	} {
		if line[name] != want {
			t.Errorf("log has %s = %v, want %s", name, line[name], want)
		}
	}
	if err := handle(t.Context(), []byte(`{"v":1,"run":"est-1~1","rev":0}`), given); !errors.Is(err, opened) {
		t.Errorf("Handle(a message of a run) = %v, want the run asked for", err)
	}
}
