package supervise

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A Forker begins processes from one thread, with which they end.
type Forker chan func()

// NewForker returns a forker whose thread lives as long as ctx.
func NewForker(ctx context.Context) Forker {
	f := make(Forker)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		for {
			select {
			case begin := <-f:
				begin()
			case <-ctx.Done():
				return
			}
		}
	}()
	return f
}

func (f Forker) start(ctx context.Context, c *exec.Cmd) (err error) {
	done := make(chan struct{})
	select {
	case f <- func() { err = c.Start(); close(done) }:
		<-done
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A Process is a program that is begun again whenever it ends.
type Process struct {
	Name      string
	Path      string
	Args, Env []string
	Log       *os.File // of every life

	mu        sync.Mutex // guards what follows
	running   *os.Process
	suspended bool
	expected  bool // this life is to end: we killed it
	kills     int
	stops     int
	deaths    []string // ends that nobody meant
}

const pauseAfterDeath = 200 * time.Millisecond

// Keep runs the program until ctx ends.
func (p *Process) Keep(ctx context.Context, f Forker) {
	for ctx.Err() == nil {
		c := exec.CommandContext(ctx, p.Path, p.Args...) //nolint:gosec // G204: our own binaries
		c.Env, c.Stdout, c.Stderr, c.SysProcAttr = p.Env, p.Log, p.Log, attributes()
		if err := f.start(ctx, c); err != nil {
			p.died(ctx, err)
			return
		}
		p.mu.Lock()
		p.running, p.expected, p.suspended = c.Process, false, false
		p.mu.Unlock()
		p.died(ctx, c.Wait())
	}
}

// died notes the end of a life.
func (p *Process) died(ctx context.Context, err error) {
	p.mu.Lock()
	expected := p.expected || ctx.Err() != nil
	p.running = nil
	if !expected {
		p.deaths = append(p.deaths, fmt.Sprintf("%s ended by itself: %v", p.Name, err))
	}
	p.mu.Unlock()
	if !expected { // something is wrong: no use in hurry
		select {
		case <-ctx.Done():
		case <-time.After(pauseAfterDeath):
		}
	}
}

// Kill ends this life, unless the process is between two lives or suspended.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil || p.suspended || p.expected {
		return
	}
	p.expected = true
	p.kills++
	_ = p.running.Kill() // it may be dead already, by its own fault: then Wait says so too
}

// Freeze suspends the process for a time.
func (p *Process) Freeze(ctx context.Context, d time.Duration) {
	p.mu.Lock()
	frozen := p.running
	if frozen == nil || p.suspended || p.expected || suspend(frozen) != nil {
		p.mu.Unlock()
		return
	}
	p.suspended = true
	p.stops++
	p.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == frozen {
		_ = resume(frozen) // fails when it is dead
		p.suspended = false
	}
}

// Kills returns how often the process was killed.
func (p *Process) Kills() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kills
}

// Stops returns how often the process was suspended.
func (p *Process) Stops() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stops
}

// Deaths returns the ends that nobody meant.
func (p *Process) Deaths() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.deaths)
}
