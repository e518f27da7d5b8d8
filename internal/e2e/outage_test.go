package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"truecost.dev/emulator/hub"
)

// killedAgents: the agents live in a process of their own, which is killed while
// one of them is at work, and started again when the runner has noticed. The run
// finishes, and readers see what they would have seen anyway.
func killedAgents(t *testing.T, calm picture) {
	t.Helper()
	port := freePort(t)
	base := "http://127.0.0.1:" + strconv.Itoa(port)
	s := start(t, hub.Config{}, map[string]string{"A2A_BASE_URL": base, "TRUECOST_RETRY_PAUSE": "100ms"})
	agents := startAgents(t, s, port)
	s.begin(t, "deck-1", input(t, "deck"))
	s.watchTask(t, "cost")
	agents.kill(t)
	if doc := s.get(t, "estimates/deck-1"); doc["status"] != "processing" || !completed("scope")(doc) {
		t.Fatalf("the agents died when %v, not in the middle", doc["pipelineStatus"])
	}
	s.watch(t, "runs/deck-1~1", func(run version) bool { // all quick tries were in vain
		open, _ := unpacked(t, run, "state")["open"].(map[string]any)
		for _, step := range open {
			if m, _ := step.(map[string]any); m["tries"] != json.Number("0") {
				return true
			}
		}
		return false
	})
	startAgents(t, s, port)
	seen := s.end(t, "deck-1", "complete")
	neverFalls(t, seen, "pipelineStatus.progress")

	same(t, "after the outage", calm.visible(), s.shown(t, "deck-1").visible())
	tasks := map[string]int{}
	for name, task := range s.list(t, "tasks") {
		agent, _ := task["agent"].(string)
		tasks[agent]++
		if task["state"] != "TASK_STATE_COMPLETED" {
			t.Errorf("tasks/%s is %v, want completed", name, task["state"])
		}
	}
	stored := s.list(t, "runs/deck-1~1/steps")
	if len(stored) != len(steps()) || len(tasks) != len(steps()) {
		t.Errorf("%d steps of %d agents, want %d", len(stored), len(tasks), len(steps()))
	}
	for _, id := range steps() {
		step := unpacked(t, stored[id], "record")
		agent, _ := step["agent"].(string)
		if step["st"] != "done" || tasks[agent] != 1 {
			t.Errorf("step %s is %v, with %d tasks of %s; want done and one", id, step["st"], tasks[agent], agent)
		}
	}
}

// watchTask waits until an agent has begun to work.
func (s *system) watchTask(t *testing.T, agent string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	snapshots := s.db.Collection("tasks").Where("agent", "==", agent).Snapshots(ctx)
	defer snapshots.Stop()
	for {
		found, err := snapshots.Next()
		if err != nil {
			t.Fatalf("watch the tasks of %s: %v", agent, err)
		}
		if found.Size > 0 {
			return
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A process serves the functions of the module and nothing else.
type process struct {
	cmd  *exec.Cmd
	says bytes.Buffer
}

// startAgents starts the functions on a port, as the cloud does, over the
// stores of s. It returns when they answer.
func startAgents(t *testing.T, s *system, port int) *process {
	t.Helper()
	at := s.Addresses()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(),
		fmt.Sprintf("%s=%d", asFunctions, port), "GOOGLE_CLOUD_PROJECT="+project, "FUNCTION_TARGET=",
		"FIRESTORE_EMULATOR_HOST="+at.Firestore, "PUBSUB_EMULATOR_HOST="+at.PubSub, "TRUECOST_LOCAL_AUTH=true",
		"TRUECOST_AGENT_TIMEOUT=1s") // whoever is at work when it dies is given up soon
	p.cmd.Stdout, p.cmd.Stderr = &p.says, &p.says
	lifeline, err := p.cmd.StdinPipe() // it ends when this process does
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = lifeline.Close()
		_ = p.cmd.Wait() // killed, or ended by the line above
		if t.Failed() {
			t.Logf("the agents said:\n%.4000s", &p.says)
		}
	})
	p.answers(t, port)
	return p
}

// answers waits until something answers at the address of an agent. (A GET is
// refused there: it begins no task.)
func (p *process) answers(t *testing.T, port int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	agent := fmt.Sprintf("http://127.0.0.1:%d/a2a_location", port)
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, agent, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.DefaultTransport.RoundTrip(r); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusMethodNotAllowed {
				t.Fatalf("GET %s answers %s, want 405", agent, resp.Status)
			}
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("the agents do not answer; they said:\n%s", &p.says)
		}
	}
}

// kill ends the process as kill -9 does.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // its error is that it was killed
}
