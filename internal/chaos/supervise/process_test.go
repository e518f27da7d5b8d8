package supervise

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asleep makes this test binary a program that does nothing for ever.
const asleep = "CHAOS_TEST_ASLEEP"

func TestMain(m *testing.M) {
	if os.Getenv(asleep) != "" {
		time.Sleep(time.Hour)
		return
	}
	os.Exit(m.Run())
}

func sleeper(t *testing.T) *Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return &Process{Name: "sleeper", Path: self, Env: append(os.Environ(), asleep+"=1"), Log: log}
}

// pid waits for a life other than the one before, 0 for any.
func (p *Process) pid(t *testing.T, before int) int {
	t.Helper()
	for {
		p.mu.Lock()
		running := p.running
		p.mu.Unlock()
		if running != nil && running.Pid != before {
			return running.Pid
		}
		runtime.Gosched()
		if t.Context().Err() != nil {
			t.Fatal("the process does not come back")
		}
	}
}

func TestProcessComesBack(t *testing.T) {
	t.Parallel()
	p := sleeper(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { p.Keep(ctx, NewForker(ctx)); close(done) }()
	first := p.pid(t, 0)
	p.Kill()
	second := p.pid(t, first)
	if p.Kills() != 1 || len(p.Deaths()) != 0 {
		t.Errorf("kills %d, deaths %v, want one that was meant", p.Kills(), p.Deaths())
	}
	if err := syscall.Kill(second, syscall.SIGTERM); err != nil { // by somebody else
		t.Fatal(err)
	}
	p.pid(t, second)
	cancel()
	<-done
	if len(p.Deaths()) != 1 || !strings.Contains(p.Deaths()[0], "by itself") {
		t.Errorf("deaths %v, want the one that nobody meant", p.Deaths())
	}
}

func TestProcessIsSuspended(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes are suspended on Linux alone")
	}
	p := sleeper(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { p.Keep(ctx, NewForker(ctx)); close(done) }()
	pid := p.pid(t, 0)
	frozen, thaw := context.WithCancel(t.Context())
	thawed := make(chan struct{})
	go func() { p.Freeze(frozen, time.Hour); close(thawed) }()
	for state(t, pid) != "T" {
		runtime.Gosched()
	}
	if p.Kill(); p.Kills() != 0 {
		t.Error("a suspended process was killed: it is to come back as a zombie")
	}
	thaw()
	<-thawed
	for state(t, pid) == "T" {
		runtime.Gosched()
	}
	if p.Stops() != 1 {
		t.Errorf("stops = %d, want 1", p.Stops())
	}
	cancel()
	<-done
}

// state is the letter that the system has for what a process does.
func state(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:1]
}
