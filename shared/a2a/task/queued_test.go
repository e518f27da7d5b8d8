package task_test

import (
	"context"
	"testing"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// flakyQueue loses the first job.
type flakyQueue struct{ jobs []task.Ref }

func (q *flakyQueue) Work(_ context.Context, ref task.Ref) error {
	q.jobs = append(q.jobs, ref)
	if len(q.jobs) == 1 {
		return fault.New(fault.Unavailable, "the instance was killed")
	}
	return nil
}

func (*flakyQueue) Tell(context.Context, task.Ref) error { return nil }

// A message that is submitted again while it waits is queued again: the first
// time may not have reached the queue. Once it is worked on, it is not.
func TestSubmittedAgain(t *testing.T) {
	t.Parallel()
	queue := &flakyQueue{}
	opt := live()
	opt.Queue = func() (task.Queue, error) { return queue, nil }
	d := desk(opt)
	for range 2 {
		if _, err := d.Submit(t.Context(), message(firstID, "COMPLETED")); err != nil {
			t.Fatal(err)
		}
	}
	if len(queue.jobs) != 2 || queue.jobs[0] != queue.jobs[1] {
		t.Fatalf("queued %v, want the same task twice", queue.jobs)
	}
	w := &task.Worker{Desks: map[string]*task.Desk{"actor": d}}
	for _, job := range queue.jobs {
		if err := w.Work(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.Submit(t.Context(), message(firstID, "COMPLETED"))
	if err != nil || got.Status.State != "TASK_STATE_COMPLETED" || len(queue.jobs) != 2 {
		t.Errorf("Submit(a message that was worked on) = %v, %v with %d jobs, want it completed and 2", got, err, len(queue.jobs))
	}
}
