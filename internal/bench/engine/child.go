package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"strings"
	"time"
)

// childRole is the argument that makes this program a part of a measurement.
const childRole = "child"

// role says what a child is. It travels as an argument.
type role struct {
	Engine *engineRole `json:"engine,omitempty"` // nil: the stores
}

// A child tells the program that started it, in lines: first where it is, then
// every run that ended. It ends when its standard input does.
type ready struct {
	Control   string `json:"control"` // base address of /usage and its like
	Firestore string `json:"firestore,omitempty"`
	PubSub    string `json:"pubsub,omitempty"`
}

func serveChild(ctx context.Context, arg string) error {
	var r role
	if err := json.Unmarshal([]byte(arg), &r); err != nil {
		return fmt.Errorf("read the role: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); cancel() }() // ends with its parent
	if r.Engine != nil {
		return serveEngine(ctx, *r.Engine)
	}
	return serveStores(ctx)
}

// announce serves a child's control pages and says so.
func announce(ctx context.Context, r ready, pages *http.ServeMux) error {
	pages.HandleFunc("GET /usage", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(used()) })
	pages.HandleFunc("GET /profile", pprof.Profile)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &http.Server{Handler: pages, ReadHeaderTimeout: time.Minute}
	go func() { <-ctx.Done(); _ = s.Close() }()
	r.Control = "http://" + l.Addr().String()
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return err
	}
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// process is a child as its parent sees it.
type process struct {
	ready
	cmd   *exec.Cmd
	stdin io.Closer
	log   *os.File
	lines chan string
}

// spawn starts a child and waits until it is ready. Its log goes to a file of
// dir, as the log of a function goes to a collector.
func spawn(dir string, r role) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	arg, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(self, childRole, string(arg)), lines: make(chan string, 1000)}
	if p.log, err = os.CreateTemp(dir, "log"); err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.log
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	in := bufio.NewReader(stdout)
	if line, err := in.ReadBytes('\n'); err != nil || json.Unmarshal(line, &p.ready) != nil {
		p.stop()
		return nil, fmt.Errorf("a child did not come up:\n%s", p.tail())
	}
	go func() { // ends with the child
		defer close(p.lines)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			p.lines <- strings.TrimSpace(line)
		}
	}()
	return p, nil
}

// stop ends a child and waits for it.
func (p *process) stop() {
	_ = p.stdin.Close()
	t := time.AfterFunc(10*time.Second, p.kill)
	defer t.Stop()
	_ = p.cmd.Wait() // how it ended does not matter any more
}

// kill is SIGKILL.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// tail returns the last warnings and errors of the log.
func (p *process) tail() string {
	b, _ := os.ReadFile(p.log.Name())
	var kept []string
	for line := range strings.Lines(string(b)) {
		if !strings.Contains(line, `"severity":"INFO"`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-5):], "")
}

var control = &http.Client{Timeout: 10 * time.Second}

// ask reads a control page.
func (p *process) ask(path string, v any) error {
	answer, err := control.Get(p.Control + path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(v)
}
