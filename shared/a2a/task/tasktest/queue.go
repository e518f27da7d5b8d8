package tasktest

import (
	"context"
	"sync"
	"time"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// Queue is a queue in memory. What it is given waits until Next takes it, or
// until Serve, which has it done. It is safe for concurrent use; the zero Queue
// is empty.
type Queue struct {
	mu   sync.Mutex // guards what follows
	jobs []task.Job
	more chan struct{} // closed when a job comes
}

var _ task.Queue = (*Queue)(nil)

// Work implements task.Queue.
func (q *Queue) Work(_ context.Context, ref task.Ref) error {
	q.put(task.Job{Do: task.DoWork, Ref: ref})
	return nil
}

// Tell implements task.Queue.
func (q *Queue) Tell(_ context.Context, ref task.Ref) error {
	q.put(task.Job{Do: task.DoTell, Ref: ref})
	return nil
}

func (q *Queue) put(j task.Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, j)
	if q.more != nil {
		close(q.more)
		q.more = nil
	}
}

// Next takes the oldest job that waits; ok is false when there is none.
func (q *Queue) Next() (j task.Job, ok bool) {
	j, more := q.next()
	return j, more == nil
}

// next takes a job, or returns what is closed when one comes.
func (q *Queue) next() (task.Job, <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		if q.more == nil {
			q.more = make(chan struct{})
		}
		return task.Job{}, q.more
	}
	j := q.jobs[0]
	q.jobs = q.jobs[1:]
	return j, nil
}

// Serve has every job done by do, all at the same time, until ctx ends; then it
// waits for those under way. A job that fails in a way that may pass comes back
// after a second.
func (q *Queue) Serve(ctx context.Context, do func(context.Context, task.Job) error) {
	var doing sync.WaitGroup
	defer doing.Wait()
	for {
		j, more := q.next()
		if more == nil {
			doing.Go(func() { q.deliver(ctx, j, do) })
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}

func (q *Queue) deliver(ctx context.Context, j task.Job, do func(context.Context, task.Job) error) {
	for fault.KindOf(do(ctx, j)).Transient() {
		back := time.NewTimer(time.Second)
		select {
		case <-back.C:
		case <-ctx.Done():
			back.Stop()
			return
		}
	}
}
