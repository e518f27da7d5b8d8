package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"truecost.dev/shared/a2a/task"
)

// How a job that failed comes again, and how often the store is swept.
const (
	retries    = 5
	retryPause = 500 * time.Millisecond
	sweepEvery = 5 * time.Second
)

// queue does in this process what Pub/Sub does in the cloud: each job at least
// once, soon, and again when it failed.
type queue struct {
	ctx    context.Context //nolint:containedctx // of the jobs, which outlive the calls that ask for them
	cancel context.CancelFunc
	worker *task.Worker
	log    *slog.Logger
	jobs   sync.WaitGroup
}

func newQueue(ctx context.Context, log *slog.Logger) *queue {
	q := &queue{log: log}
	q.ctx, q.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return q
}

// start gives the queue its worker and begins to sweep.
func (q *queue) start(w *task.Worker) {
	q.worker = w
	q.jobs.Go(func() {
		tick := time.NewTicker(sweepEvery)
		defer tick.Stop()
		for {
			select {
			case <-q.ctx.Done():
				return
			case <-tick.C:
				q.report("sweep", w.Sweep(q.ctx))
			}
		}
	})
}

// stop ends what is at work and waits for it.
func (q *queue) stop() {
	q.cancel()
	q.jobs.Wait()
}

// Work implements task.Queue.
func (q *queue) Work(_ context.Context, ref task.Ref) error {
	q.do("work", func() error { return q.worker.Work(q.ctx, ref) })
	return nil
}

// Tell implements task.Queue.
func (q *queue) Tell(_ context.Context, ref task.Ref) error {
	q.do("tell", func() error { return q.worker.Tell(q.ctx, ref) })
	return nil
}

func (q *queue) do(what string, job func() error) {
	q.jobs.Go(func() {
		for range retries {
			err := job()
			if err == nil {
				return
			}
			q.report(what, err)
			select {
			case <-q.ctx.Done():
				return
			case <-time.After(retryPause):
			}
		}
	})
}

func (q *queue) report(what string, err error) {
	if err != nil && q.ctx.Err() == nil {
		q.log.WarnContext(q.ctx, "a job failed", slog.String("job", what), slog.Any("error", err))
	}
}
