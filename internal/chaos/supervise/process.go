package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// A forker begins processes from one thread, with which they end.
type forker chan func()

func newForker(ctx context.Context) forker {
	f := make(forker)
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

func (f forker) start(ctx context.Context, c *exec.Cmd) (err error) {
	done := make(chan struct{})
	select {
	case f <- func() { err = c.Start(); close(done) }:
		<-done
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A process is a program that is begun again whenever it ends.
type process struct {
	name      string
	path      string
	args, env []string
	log       *os.File

	mu        sync.Mutex // guards what follows
	running   *os.Process
	suspended bool
	expected  bool // this life is to end: we killed it
	kills     int
	stops     int
	deaths    []string // ends that nobody meant
}

const pauseAfterDeath = 200 * time.Millisecond

// keep runs the program until ctx ends.
func (p *process) keep(ctx context.Context, f forker) {
	for ctx.Err() == nil {
		c := exec.CommandContext(ctx, p.path, p.args...) //nolint:gosec // G204: our own binaries
		c.Env, c.Stdout, c.Stderr, c.SysProcAttr = p.env, p.log, p.log, attributes()
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
func (p *process) died(ctx context.Context, err error) {
	p.mu.Lock()
	expected := p.expected || ctx.Err() != nil
	p.running = nil
	if !expected {
		p.deaths = append(p.deaths, fmt.Sprintf("%s ended by itself: %v", p.name, err))
	}
	p.mu.Unlock()
	if !expected { // something is wrong: no use in hurry
		select {
		case <-ctx.Done():
		case <-time.After(pauseAfterDeath):
		}
	}
}

// kill ends this life, unless the process is between two lives or suspended.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil || p.suspended || p.expected {
		return
	}
	p.expected = true
	p.kills++
	_ = p.running.Kill() // it may be dead already, by its own fault: then Wait says so too
}

// freeze suspends the process for a time.
func (p *process) freeze(ctx context.Context, d time.Duration) {
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
