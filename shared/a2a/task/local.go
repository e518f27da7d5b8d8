package task

import (
	"sync"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// local is what a desk knows of its own process. It only shortens waits: a task
// is found in the store whether anything is here or not.
type local struct {
	mu       sync.Mutex // guards what follows
	bells    map[sdk.TaskID]*bell
	attempts map[sdk.TaskID]*attempt
}

// bell wakes the listeners of a task.
type bell struct {
	rung      chan struct{} // closed at the next ring
	listeners int
}

// hear returns how to wait for the next change of a task, and how to stop
// listening.
func (l *local) hear(id sdk.TaskID) (next func() <-chan struct{}, stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bells == nil {
		l.bells = map[sdk.TaskID]*bell{}
	}
	b := l.bells[id]
	if b == nil {
		b = &bell{rung: make(chan struct{})}
		l.bells[id] = b
	}
	b.listeners++
	next = func() <-chan struct{} {
		l.mu.Lock()
		defer l.mu.Unlock()
		return b.rung
	}
	return next, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if b.listeners--; b.listeners == 0 {
			delete(l.bells, id)
		}
	}
}

// ring tells that a task has changed.
func (l *local) ring(id sdk.TaskID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.bells[id]; b != nil {
		close(b.rung)
		b.rung = make(chan struct{})
	}
}

// add names the attempt that stop can end, until gone is called.
func (l *local) add(a *attempt) (gone func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.attempts == nil {
		l.attempts = map[sdk.TaskID]*attempt{}
	}
	id := a.r.ID
	l.attempts[id] = a
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.attempts[id] == a { // else a later one took it over, here
			delete(l.attempts, id)
		}
	}
}

// stop ends the work on a task in this process.
func (l *local) stop(id sdk.TaskID, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.attempts[id]; a != nil {
		a.cancel(why)
	}
}
