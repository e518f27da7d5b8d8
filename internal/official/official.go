// Package official starts the emulators of the Google Cloud CLI for tests and
// measurements, so that our own servers can be held to them. They are not
// required: where they are not installed, a test that asks for one is skipped.
package official

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// An emulator may take so long until it answers, and is started so often.
const (
	startTime  = time.Minute
	startTries = 3
)

// An Emulator of the Google Cloud CLI.
type Emulator struct {
	name string   // in a report
	jars string   // pattern below the CLI's platform folder
	args []string // of gcloud
}

// The emulators.
var (
	Firestore = Emulator{"Firestore", "cloud-firestore-emulator/*.jar", []string{"emulators", "firestore", "start"}}
	PubSub    = Emulator{"Pub/Sub", "pubsub-emulator/lib/*.jar", []string{"beta", "emulators", "pubsub", "start", "--project=truecost"}}
)

// ReportEnv names a file to which every test that asks for an emulator adds a
// line: what was compared, or that it was skipped. The gate prints it, since the
// go command keeps what passing tests say to itself.
const ReportEnv = "TRUECOST_OFFICIAL_REPORT"

// Start starts an emulator for the length of a test and returns its address,
// host:port, once it answers. It skips the test where the emulator is not
// installed, and under -short.
func (e Emulator) Start(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("official emulators are slow to start: skipped")
	}
	gcloud, ok := e.installed()
	if !ok {
		report(t, "official emulators not installed: skipped")
		t.Skip("official emulators not installed: skipped")
	}
	address, stop, err := e.start(t.Context(), gcloud, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	report(t, fmt.Sprintf("official emulators: %s compared in %s", e.name, t.Name()))
	return address
}

// Installed reports whether the emulator can be started here.
func (e Emulator) Installed() bool {
	_, ok := e.installed()
	return ok
}

// Run starts an emulator that is installed, for a program that is no test, and
// returns its address, host:port, once it answers. dir is for its files. It
// ends with stop, or with ctx.
func (e Emulator) Run(ctx context.Context, dir string) (address string, stop func(), err error) {
	gcloud, ok := e.installed()
	if !ok {
		return "", nil, fmt.Errorf("the official %s emulator is not installed", e.name)
	}
	return e.start(ctx, gcloud, dir)
}

func (e Emulator) start(ctx context.Context, gcloud, dir string) (address string, stop func(), err error) {
	for range startTries {
		if address, stop, err = e.launch(ctx, gcloud, dir); err == nil {
			return address, stop, nil
		}
	}
	return "", nil, fmt.Errorf("the official %s emulator did not start, %d times: %w", e.name, startTries, err)
}

// launch starts the emulator once. Its port was free a moment ago; another
// process may have been faster, and then the emulator ends by itself.
func (e Emulator) launch(ctx context.Context, gcloud, dir string) (address string, stop func(), err error) {
	if address, err = free(ctx); err != nil {
		return "", nil, err
	}
	args := append(append([]string{}, e.args...), "--host-port="+address, "--quiet")
	if e.name == PubSub.name {
		args = append(args, "--data-dir="+dir)
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, gcloud, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // gcloud starts a shell that starts Java
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if err := cmd.Start(); err != nil {
		cancel()
		return "", nil, err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // killed, or ended by itself: why does not matter
	stop = func() { cancel(); <-ended }
	if err := await(ctx, "http://"+address+"/", ended); err != nil {
		stop()
		return "", nil, err
	}
	return address, stop, nil
}

func (e Emulator) installed() (gcloud string, ok bool) {
	gcloud, err := exec.LookPath("gcloud")
	if err != nil {
		return "", false
	}
	if gcloud, err = filepath.EvalSymlinks(gcloud); err != nil {
		return "", false
	}
	if _, err := exec.LookPath("java"); err != nil {
		return "", false
	}
	jars, err := filepath.Glob(filepath.Join(filepath.Dir(gcloud), "..", "platform", filepath.FromSlash(e.jars)))
	return gcloud, err == nil && len(jars) > 0
}

func report(t testing.TB, line string) {
	t.Helper()
	name := os.Getenv(ReportEnv)
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatalf("write the report: %v", err)
	}
	if _, err := fmt.Fprintln(f, line); err != nil {
		t.Errorf("write the report: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("write the report: %v", err)
	}
}

func free(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// await asks until the emulator answers, ends or takes too long.
func await(ctx context.Context, url string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, fmt.Errorf("no answer in %v", startTime))
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ended:
			return errors.New("it ended")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
