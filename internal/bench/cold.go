package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"truecost.dev/emulator/firestore"
)

// server is a program that is started, asked once and killed.
type server struct {
	name string
	path string
	env  []string
	ask  func(ctx context.Context, base string) error
}

// cold is one start: how long from exec to the first answer, and how much memory
// the process holds after it.
type cold struct {
	first time.Duration
	rss   int64 // bytes
}

func (s server) start(ctx context.Context) (cold, error) {
	port, err := freePort()
	if err != nil {
		return cold{}, err
	}
	base := "http://127.0.0.1:" + port
	cmd := exec.CommandContext(ctx, s.path)
	cmd.Env = append(os.Environ(), append(s.env, "PORT="+port)...)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return cold{}, fmt.Errorf("start %s: %w", s.name, err)
	}
	defer func() {
		_ = cmd.Process.Kill() // it has no state
		_ = cmd.Wait()
	}()
	for {
		if err = s.ask(ctx, base); err == nil {
			break
		}
		if time.Since(began) > 20*time.Second {
			return cold{}, fmt.Errorf("%s does not answer: %w", s.name, err)
		}
		time.Sleep(time.Millisecond)
	}
	c := cold{first: time.Since(began)}
	c.rss, err = resident(cmd.Process.Pid)
	return c, err
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

func resident(pid int) (int64, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, fmt.Errorf("read memory of %d: %w", pid, err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("no VmRSS of %d", pid)
}

var client = &http.Client{Timeout: 20 * time.Second}

// get asks for a path and wants 200.
func get(path string) func(context.Context, string) error {
	return func(ctx context.Context, base string) error { return send(ctx, http.MethodGet, base+path, nil) }
}

// post sends a JSON body and wants 200 with a result in it.
func post(path string, body []byte) func(context.Context, string) error {
	return func(ctx context.Context, base string) error { return send(ctx, http.MethodPost, base+path, body) }
}

func send(ctx context.Context, method, url string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	w, err := client.Do(r)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(w.Body, 8<<20))
	if err != nil {
		return err
	}
	if w.StatusCode != http.StatusOK || body != nil && !bytes.Contains(answer, []byte(`"status":"completed"`)) {
		return fmt.Errorf("%s answered %d %.200s", url, w.StatusCode, answer)
	}
	return nil
}

// coldStart measures the deployed binary, one agent, beside the least a
// functions-framework server can be.
func coldStart(ctx context.Context, t *tabwriter.Writer) error {
	dir, err := os.MkdirTemp("", "truecost-bench")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	ours, empty := filepath.Join(dir, "functions"), filepath.Join(dir, "empty")
	for path, pkg := range map[string]string{ours: "./cmd/functions", empty: "./internal/bench/empty"} {
		if out, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path, pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	input, err := os.ReadFile("testdata/kitchen.json")
	if err != nil {
		return err
	}
	work := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"1","method":"message/send","params":{"message":{"role":"user","parts":[{"type":"data","data":{"estimate_id":"e","input":{"clarification_output":%s}}}]}}}`, input)
	emulator := firestore.New(firestore.Options{})
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = emulator.Serve(l) }() // ends with Close
	defer emulator.Close()
	env := []string{"FUNCTION_TARGET=a2a_location", "TRUECOST_LOCAL_AUTH=true", "FIRESTORE_EMULATOR_HOST=" + l.Addr().String()}
	servers := []server{
		{"empty framework server", empty, []string{"FUNCTION_TARGET=empty"}, get("/")},
		{"a2a_location, card", ours, env, get("/.well-known/agent.json")},
		{"a2a_location, a kitchen's location", ours, env, post("/", work)},
	}
	firsts, memory := make([][]time.Duration, len(servers)), make([][]int64, len(servers))
	for range rounds {
		for i, s := range servers {
			c, err := s.start(ctx)
			if err != nil {
				return err
			}
			firsts[i], memory[i] = append(firsts[i], c.first), append(memory[i], c.rss)
		}
	}
	base, baseMemory := median(firsts[0]), median(memory[0])
	for i, s := range servers[1:] {
		first, rss := median(firsts[i+1]), median(memory[i+1])
		fmt.Fprintf(t, "cold start, %s\t%s\t%s %s\t%.2f\n", s.name, milliseconds(first), servers[0].name, milliseconds(base), float64(first)/float64(base))
		fmt.Fprintf(t, "memory, %s\t%s\t%s %s\t%.2f\n", s.name, megabytes(rss), servers[0].name, megabytes(baseMemory), float64(rss)/float64(baseMemory))
	}
	return nil
}
