package interop

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Addresses of what the tests share: the conformance agent, whose tasks last as
// long as a test wants, and the functions and the hosting of the local system.
var conformance, functions, hosting string

// cardKey signs the cards of the local system. It is known to everybody.
const cardKey = "../../shared/a2a/card/testdata/key.pem"

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := withPrograms(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		code = 1
	}
	os.Exit(code)
}

// withPrograms runs the tests beside the programs that they talk to.
func withPrograms(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "interop")
	if err != nil {
		return 1, fmt.Errorf("a place for the programs: %w", err)
	}
	defer os.RemoveAll(dir)
	key, err := os.ReadFile(cardKey)
	if err != nil {
		return 1, fmt.Errorf("the key of the cards: %w", err)
	}
	agent, lines, err := launch(dir, "internal/conformance", 1, nil, "-addr", "127.0.0.1:0", "-union")
	if err != nil {
		return 1, err
	}
	defer agent.stop()
	_, conformance, _ = strings.Cut(lines[0], " at ")

	system, lines, err := launch(dir, "emulator", 5, []string{"TRUECOST_CARD_KEY=" + string(key)},
		"-functions-port", "0", "-firestore-port", "0", "-pubsub-port", "0", "-hosting-port", "0", "-inspector-port", "0")
	if err != nil {
		return 1, err
	}
	defer system.stop()
	for _, line := range lines {
		switch name, at, _ := strings.Cut(line, " "); name {
		case "functions":
			functions = strings.TrimSpace(at)
		case "hosting":
			hosting = strings.TrimSpace(at)
		}
	}
	return m.Run(), nil
}

// program is one that runs beside the tests.
type program struct{ cmd *exec.Cmd }

// launch builds a program of the module that is tested, starts it, and returns
// the lines it prints when it is ready.
func launch(dir, pkg string, ready int, env []string, args ...string) (program, []string, error) {
	name := filepath.Join(dir, filepath.Base(pkg))
	build := exec.Command("go", "build", "-o", name, "./"+pkg)
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		return program{}, nil, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	p := program{exec.Command(name, args...)}
	p.cmd.Env = append(os.Environ(), env...)
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return program{}, nil, fmt.Errorf("start %s: %w", pkg, err)
	}
	var lines []string
	for said := bufio.NewScanner(out); len(lines) < ready; {
		if !said.Scan() {
			p.stop()
			return program{}, nil, fmt.Errorf("%s ended after %q", pkg, lines)
		}
		lines = append(lines, said.Text())
	}
	return p, lines, nil
}

// stop asks the program to end, and makes it end.
func (p program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	late := time.AfterFunc(15*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	_ = p.cmd.Wait() // how it ended is no concern of the tests
}

// notice is what a webhook got.
type notice struct {
	Header http.Header
	Body   map[string]json.RawMessage
}

// webhook takes notifications, and hands them out by task.
type webhook struct {
	*httptest.Server
	mu      sync.Mutex // guards notices
	notices []notice
	came    chan struct{}
}

func newWebhook(t *testing.T) *webhook {
	t.Helper()
	h := &webhook{came: make(chan struct{}, 100)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		n := notice{Header: r.Header}
		if err != nil || json.Unmarshal(raw, &n.Body) != nil {
			t.Errorf("a notification that is no JSON object: %s", raw)
			return
		}
		h.mu.Lock()
		h.notices = append(h.notices, n)
		h.mu.Unlock()
		h.came <- struct{}{}
	}))
	t.Cleanup(h.Close)
	return h
}

// wait returns the first notification that is wanted.
func (h *webhook) wait(t *testing.T, wanted func(notice) bool) notice {
	t.Helper()
	for timeout := time.After(20 * time.Second); ; {
		h.mu.Lock()
		all := h.notices
		h.mu.Unlock()
		for _, n := range all {
			if wanted(n) {
				return n
			}
		}
		select {
		case <-h.came:
		case <-timeout:
			t.Fatalf("no such notification among %d: %v", len(all), all)
		}
	}
}

// completed reports whether a notification says that a task is completed, in 1.0
// or in 0.3.
func completed(n notice) bool {
	said := string(n.Body["statusUpdate"]) + string(n.Body["status"])
	return strings.Contains(strings.ToLower(said), "completed")
}
