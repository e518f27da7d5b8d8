package tasktest

import (
	"context"
	"sync/atomic"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// Flaky is a store as an instance sees it that may be cut off from it. The zero
// functions let everything pass.
type Flaky struct {
	StoreFinder

	Before func(write int64, r task.Record) error // an error: the write of this number, from 1, does not reach the store
	After  func(write int64) error                // an error: it does, and its answer is lost
	Read   func() error                           // an error: nothing is read

	down   atomic.Bool
	loses  atomic.Bool
	writes atomic.Int64
	reads  atomic.Int64
}

var errDown = fault.New(fault.Unavailable, "the store is away")

// Cut cuts the store off, as when the instance dies: nothing passes any more.
func (f *Flaky) Cut() { f.down.Store(true) }

// Lose has the next write done and its answer lost.
func (f *Flaky) Lose() { f.loses.Store(true) }

// Writes returns how many have begun.
func (f *Flaky) Writes() int64 { return f.writes.Load() }

// Reads returns how many reads have begun.
func (f *Flaky) Reads() int64 { return f.reads.Load() }

func (f *Flaky) write(r task.Record, do func() (task.Record, error)) (task.Record, error) {
	n := f.writes.Add(1)
	if f.down.Load() {
		return task.Record{}, errDown
	}
	if f.Before != nil {
		if err := f.Before(n, r); err != nil {
			return task.Record{}, err
		}
	}
	stored, err := do()
	if err == nil && f.loses.Swap(false) {
		err = errDown
	}
	if err == nil && f.After != nil {
		err = f.After(n)
	}
	if err != nil {
		return task.Record{}, err
	}
	return stored, nil
}

func (f *Flaky) read() error {
	f.reads.Add(1)
	switch {
	case f.down.Load():
		return errDown
	case f.Read != nil:
		return f.Read()
	}
	return nil
}

// Create implements task.Store.
func (f *Flaky) Create(ctx context.Context, r task.Record, log ...task.Entry) (task.Record, error) {
	return f.write(r, func() (task.Record, error) { return f.StoreFinder.Create(ctx, r, log...) })
}

// Update implements task.Store.
func (f *Flaky) Update(ctx context.Context, r task.Record, log ...task.Entry) (task.Record, error) {
	return f.write(r, func() (task.Record, error) { return f.StoreFinder.Update(ctx, r, log...) })
}

// Get implements task.Store.
func (f *Flaky) Get(ctx context.Context, agent string, id sdk.TaskID) (task.Record, error) {
	if err := f.read(); err != nil {
		return task.Record{}, err
	}
	return f.StoreFinder.Get(ctx, agent, id)
}

// Log implements task.Store.
func (f *Flaky) Log(ctx context.Context, agent string, id sdk.TaskID, after int64) ([]task.Entry, error) {
	if err := f.read(); err != nil {
		return nil, err
	}
	return f.StoreFinder.Log(ctx, agent, id, after)
}

// Due implements task.Finder.
func (f *Flaky) Due(ctx context.Context, before time.Time, limit int) ([]task.Ref, error) {
	if err := f.read(); err != nil {
		return nil, err
	}
	return f.StoreFinder.Due(ctx, before, limit)
}
