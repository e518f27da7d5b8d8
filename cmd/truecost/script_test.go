package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"truecost": func() { os.Exit(truecost()) }})
}

// Each script runs against a service of its own.
func TestScripts(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			f, err := newFake()
			if err != nil {
				return err
			}
			env.Defer(f.stop)
			env.Values["fake"] = f
			specialists := newSpecialists()
			env.Defer(specialists.stop)
			env.Values["specialists"] = specialists
			env.Setenv("SPECIALIST", specialists.url)
			env.Setenv("TRUECOST_INSPECTOR", f.inspector.URL)
			env.Setenv("NOWHERE", "http://127.0.0.1:1")
			env.Setenv("FUNCTIONS", f.url())
			env.Setenv("INPUTS", inputs)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "started": started, "asked": asked, "wanted": wanted, "awaits": awaits},
	})
}

// exits runs a command that must end with a code: exits 2 truecost …
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [args]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ended, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// started compares the ids that reached start_deep_pipeline, in order.
func started(ts *testscript.TestScript, neg bool, args []string) {
	f, ok := ts.Value("fake").(*fake)
	if neg || !ok {
		ts.Fatalf("usage: started [ids]")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if got, want := strings.Join(f.started, " "), strings.Join(args, " "); got != want {
		ts.Fatalf("started %q, want %q", got, want)
	}
}

// asked compares what controlled runs, a line of JSON each, with a file.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	f, ok := ts.Value("fake").(*fake)
	if neg || !ok || len(args) != 1 {
		ts.Fatalf("usage: asked file")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if got, want := strings.Join(f.asked, "\n")+"\n", ts.ReadFile(args[0]); got != want {
		ts.Fatalf("asked\n%swant\n%s", got, want)
	}
}
