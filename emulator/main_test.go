package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sethvargo/go-envconfig"

	"truecost.dev/emulator/pubsub"
)

var anyPorts = []string{"-functions-port=0", "-firestore-port=0", "-pubsub-port=0", "-hosting-port=0", "-inspector-port=0"}

func TestWrongFlags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"-nonsense"}, "flag provided but not defined: -nonsense"},
		{[]string{"-port-offset", "x"}, "invalid value"},
		{[]string{"up"}, `unexpected argument "up"`},
		{[]string{"-port-offset", "60000"}, "-port-offset 60000"},
		{[]string{"-pubsub-port", "-1"}, "-pubsub-port -1"},
		{[]string{"-project", ""}, "-project"},
		{[]string{"-region", "a/b"}, "-region"},
		{[]string{"-functions", "http://127.0.0.1:7001,7002"}, `-functions "7002"`},
		{[]string{"-min-backoff", "2s", "-max-backoff", "1s"}, "-min-backoff 2s and -max-backoff 1s"},
		{[]string{"-sweep", "-1s"}, "-sweep -1s is no pause"},
		{[]string{"-pubsub-copies", "-1", "-pubsub-delay", "-1s"}, "-pubsub-copies -1 and -pubsub-delay -1s"},
	}
	for _, tt := range tests {
		var out, errs bytes.Buffer
		code := run(t.Context(), tt.args, envconfig.MapLookuper(nil), &out, &errs)
		if code != 2 || out.Len() > 0 || !strings.Contains(errs.String(), tt.want) || !strings.Contains(errs.String(), "Usage of emulator") {
			t.Errorf("run(%q) = %d, stdout %q, stderr %q; want 2, usage and %q", tt.args, code, &out, &errs, tt.want)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-h"}, envconfig.MapLookuper(nil), &out, &errs); code != 0 || !strings.Contains(errs.String(), "-port-offset") {
		t.Errorf("run(-h) = %d %q, want 0 and the flags", code, &errs)
	}
}

func TestWrongEnvironment(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	env := envconfig.MapLookuper(map[string]string{"PIPELINE_PASSING_SCORE": "101"})
	if code := run(t.Context(), anyPorts, env, &out, &errs); code != 1 || !strings.Contains(errs.String(), "PIPELINE_PASSING_SCORE") {
		t.Errorf("run = %d %q, want 1 and the variable's name", code, &errs)
	}
}

// running starts the command and returns the lines it printed, by service, and
// what stops it and returns its exit code.
func running(t *testing.T, env map[string]string) (lines map[string]string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, printed := io.Pipe()
	code := make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		code <- run(ctx, anyPorts, envconfig.MapLookuper(env), printed, &errs)
		_ = printed.Close()
	}()
	lines = map[string]string{}
	all := make([]byte, 4096)
	for len(lines) < 5 { // each line is one write
		n, err := out.Read(all)
		if err != nil {
			t.Fatalf("the emulator ended: %s", &errs)
		}
		name, address, _ := strings.Cut(strings.TrimSpace(string(all[:n])), " ")
		lines[name] = strings.TrimSpace(address)
	}
	stop = func() int {
		cancel()
		return <-code
	}
	t.Cleanup(func() { cancel() })
	return lines, stop
}

func TestLocalSystem(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	lines, stop := running(t, nil)
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := c.Get(lines["inspector"] + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var health struct {
		Status   string
		Services map[string]string
	}
	if err := json.NewDecoder(r.Body).Decode(&health); err != nil || health.Status != "ok" || len(health.Services) != 5 {
		t.Errorf("/healthz = %+v, %v", health, err)
	}
	if d := time.Since(begin); d > 2*time.Second {
		t.Errorf("ready after %v, want under 2s", d)
	}
	r, err = c.Post(lines["functions"]+"/get_pipeline_status", "application/json", strings.NewReader(`{"data":{"estimateId":"none"}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusNotFound || !strings.Contains(string(body), `"NOT_FOUND"`) {
		t.Errorf("get_pipeline_status of no estimate = %d %s, want NOT_FOUND of the store", r.StatusCode, body)
	}
	if code := stop(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
}

func TestServersOfTheEnvironmentWin(t *testing.T) {
	t.Parallel()
	outside := pubsub.New(pubsub.Options{})
	defer outside.Close()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go outside.Serve(l)
	lines, stop := running(t, map[string]string{"PUBSUB_EMULATOR_HOST": l.Addr().String()})
	if want := l.Addr().String() + " (not ours"; !strings.HasPrefix(lines["pubsub"], want) {
		t.Errorf("pubsub line = %q, want %q", lines["pubsub"], want)
	}
	if code := stop(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
}
