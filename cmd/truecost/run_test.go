package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"truecost.dev/shared/fault"
)

// nowhere is a system in which nothing runs.
func nowhere(stdout, stderr *bytes.Buffer) system {
	return system{
		stdin: strings.NewReader(""), stdout: stdout, stderr: stderr,
		getenv: func(name string) string {
			return map[string]string{"TRUECOST_INSPECTOR": "http://127.0.0.1:1"}[name]
		},
	}
}

func TestWrongFlags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args string
		says string
	}{
		{"", "usage: truecost COMMAND"},
		{"guess", `there is no command "guess"`},
		{"estimate", "wanted FILE|-, got nothing"},
		{"estimate a.json b.json", `wanted FILE|-, got "a.json" "b.json"`},
		{"estimate a.json -jsn", "flag provided but not defined: -jsn"},
		{"estimate -json=perhaps a.json", "invalid boolean value"},
		{"estimate -id a/b a.json", "-id: \"a/b\" is not 1 to 128"},
		{"estimate -url localhost:5001 a.json", "-url: \"localhost:5001\" is not an http"},
		{"estimate -n 3 a.json", "not defined: -n"},
		{"watch -detach e", "not defined: -detach"},
		{"watch", "wanted ID, got nothing"},
		{"watch e -inspector ftp://h", "-inspector"},
		{"list e", `wanted no arguments, got "e"`},
		{"list -n many", "invalid value"},
		{"list -n -1", "-n: -1 is negative"},
		{"cancel", "wanted ID, got nothing"},
		{"runs -n -2", "-n: -2 is negative"},
		{"runs est-1", `wanted no arguments, got "est-1"`},
		{"runs -status done", `-status: "done" is not one of running, waiting_input, completed, failed, canceled`},
		{"runs -reason x", "not defined: -reason"},
		{"run", "wanted ID, got nothing"},
		{"run a/b", `"a/b" cannot be the id of a run or an estimate`},
		{"run e~0", `"e~0" cannot be the id`},
		{"run e -detach", "not defined: -detach"},
		{"answer e", `wanted ID INPUT [FILE|-], got "e"`},
		{"answer e i", "wanted one of FILE, -accept and -give-up"},
		{"answer e i - -accept", "wanted one of FILE, -accept and -give-up"},
		{"answer e i -accept -give-up", "wanted one of FILE, -accept and -give-up"},
		{"answer e i a.json b.json", `got "e" "i" "a.json" "b.json"`},
		{"answer e/ i -accept", "cannot be the id"},
		{"hold", "wanted ID, got nothing"},
		{"hold e -n 3", "not defined: -n"},
		{"hold e -reason " + strings.Repeat("x", 501), "-reason: longer than 500 bytes"},
		{"hold ~1", "cannot be the id"},
		{"resume e -reason x", "not defined: -reason"},
		{"resume", "wanted ID, got nothing"},
		{"resume e~", "cannot be the id"},
		{"retry", "wanted ID, got nothing"},
		{"retry e -from a/b", `-from: "a/b" cannot be the name of a node`},
		{"retry e -status failed", "not defined: -status"},
		{"retry e~x", "cannot be the id"},
		{"cancel e~1~1", "cannot be the id"},
		{"agents cost", "wanted no arguments"},
		{"call cost", `wanted AGENT FILE|-, got "cost"`},
		{"version 2", "wanted no arguments"},
		{"estimate -- -json a.json", `wanted FILE|-, got "-json" "a.json"`},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), strings.Fields(tt.args), nowhere(&stdout, &stderr))
			if code != exitBadInput || stdout.Len() > 0 {
				t.Errorf("run(%s) = %d with %q on stdout, want %d and nothing", tt.args, code, &stdout, exitBadInput)
			}
			for _, want := range []string{tt.says, "usage: truecost"} {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("run(%s) says %q, want %q in it", tt.args, &stderr, want)
				}
			}
		})
	}
}

func TestExitCodeOfEveryKind(t *testing.T) {
	t.Parallel()
	want := map[fault.Kind]int{
		fault.Invalid: 2, fault.NotFound: 2, fault.Conflict: 2, fault.Unknown: 2, fault.Denied: 2,
		fault.Exhausted: 3, fault.Unavailable: 3, fault.Timeout: 3, fault.Canceled: 130, fault.Internal: 1,
	}
	for _, kind := range fault.Kinds() {
		if got := exitCode(fault.New(kind, "x")); got != want[kind] {
			t.Errorf("exitCode(%s) = %d, want %d", kind, got, want[kind])
		}
	}
	if got := exitCode(errors.New("x")); got != exitFailed {
		t.Errorf("exitCode of an unknown error = %d, want %d", got, exitFailed)
	}
}

// handOut is a startLocal that hands out a fake.
func handOut(f *fake, stopped *bool) func(context.Context) (endpoints, func(), error) {
	return func(context.Context) (endpoints, func(), error) {
		return endpoints{Functions: f.url(), Firestore: f.firestore, Project: "truecost"}, func() { *stopped = true }, nil
	}
}

func startFake(t *testing.T) *fake {
	t.Helper()
	f, err := newFake()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.stop)
	return f
}

const kitchen = "../../testdata/kitchen.json"

func TestEstimateStartsALocalSystemWhenNoneRuns(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	var stopped bool
	sys := nowhere(&stdout, &stderr)
	sys.startLocal = handOut(startFake(t), &stopped)
	if code := run(t.Context(), []string{"estimate", kitchen, "-id", "ok-1"}, sys); code != exitDone || !stopped {
		t.Errorf("exit %d, stopped %v, want 0 and true\n%s", code, stopped, &stderr)
	}
	if !strings.Contains(stdout.String(), "$71,234.50") {
		t.Errorf("no result in\n%s", &stdout)
	}
}

// What the emulator starts answers the command line, and is gone after stop.
func TestStartLocal(t *testing.T) {
	t.Parallel()
	at, stop, err := startLocal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := &service{endpoints: at, http: &http.Client{}}
	if list, err := s.list(t.Context(), "local", 0); err != nil || len(list) != 0 {
		t.Errorf("list = %v, %v, want none", list, err)
	}
	ask := func() error {
		return s.callables("").Call(t.Context(), "get_pipeline_status", map[string]string{"estimateId": "nothing"}, nil)
	}
	if err := ask(); fault.KindOf(err) != fault.NotFound {
		t.Errorf("status of nothing = %v, want not found", err)
	}
	stop()
	if err := ask(); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("after stop = %v, want unavailable", err)
	}
}

// Nobody else starts one, and what is detached needs one that goes on.
func TestOnlyEstimateStartsALocalSystem(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"watch ok-1", "list", "agents", "cancel ok-1", "runs", "run ok-1", "retry ok-1", "answer ok-1 i -accept", "hold ok-1", "resume ok-1", "estimate -detach " + kitchen} {
		var stdout, stderr bytes.Buffer
		sys := nowhere(&stdout, &stderr)
		sys.startLocal = func(context.Context) (endpoints, func(), error) {
			t.Errorf("%s started a local system", args)
			return endpoints{}, nil, errors.New("no")
		}
		if code := run(t.Context(), strings.Fields(args), sys); code != exitUnreachable {
			t.Errorf("%s exits %d, want %d", args, code, exitUnreachable)
		}
	}
}

// Ctrl-C in the middle of a run leaves cleanly and says how to come back.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		own  bool
		says string
	}{
		{"a running system", false, "the run goes on; watch it with: truecost watch slow-1"},
		{"its own system", true, "the local system was started for this estimate and ends with it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := startFake(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var stdout, stderr bytes.Buffer
			var stopped bool
			sys := nowhere(&stdout, &stderr)
			sys.stdout = &trigger{Buffer: &stdout, on: "location", do: cancel}
			args := []string{"estimate", kitchen, "-id", "slow-1"}
			if tt.own {
				sys.startLocal = handOut(f, &stopped)
			} else {
				args = append(args, "-url", f.url(), "-firestore", f.firestore)
			}
			code := run(ctx, args, sys)
			if code != exitInterrupted || !strings.Contains(stderr.String(), tt.says) || stopped != tt.own {
				t.Errorf("exit %d, stopped %v, stderr %q; want 130, %v and %q", code, stopped, &stderr, tt.own, tt.says)
			}
		})
	}
}

// trigger calls do once when on has been written.
type trigger struct {
	*bytes.Buffer
	on   string
	do   func()
	once sync.Once
}

func (w *trigger) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	if strings.Contains(w.String(), w.on) {
		w.once.Do(w.do)
	}
	return n, err
}

func TestProjectOf(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://127.0.0.1:5001/demo/us-central1":             "demo",
		"https://us-central1-my-project.cloudfunctions.net":  "my-project",
		"https://us-central1-my-project.cloudfunctions.net/": "my-project",
		"http://127.0.0.1:5001":                              "truecost",
		"::":                                                 "truecost",
	} {
		if got := projectOf(in); got != want {
			t.Errorf("projectOf(%s) = %s, want %s", in, got, want)
		}
	}
}

// Every bad input ends with 2 and its path, before anybody is asked.
func TestBadInputs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/bad/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bad inputs: %v", err)
	}
	for _, file := range files {
		want, err := os.ReadFile(strings.TrimSuffix(file, "json") + "want")
		if err != nil {
			t.Fatal(err)
		}
		path, code, _ := strings.Cut(strings.TrimSpace(string(want)), " ")
		var stdout, stderr bytes.Buffer
		if got := run(t.Context(), []string{"estimate", file}, nowhere(&stdout, &stderr)); got != exitBadInput {
			t.Errorf("%s exits %d, want %d", file, got, exitBadInput)
		}
		if line := "\n" + path + ": "; !strings.Contains(stderr.String(), line) || !strings.Contains(stderr.String(), "["+code+"]") {
			t.Errorf("%s: stderr %q, want a line that begins with %s and names %s", file, &stderr, path, code)
		}
	}
}
