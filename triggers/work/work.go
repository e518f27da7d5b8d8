// Package work takes the messages of the queue of agents' tasks: run a turn that
// waits, or tell the webhooks of a task. The work is done within the delivery,
// and everything it did is stored before the delivery is acknowledged.
package work

import (
	"context"

	"truecost.dev/shared/a2a/task"
)

// Handle returns what to do with the data of a message.
func Handle(open func() (*task.Worker, error)) func(context.Context, []byte) error {
	return func(ctx context.Context, data []byte) error {
		job, err := task.DecodeJob(data)
		if err != nil {
			return err
		}
		w, err := open()
		if err != nil {
			return err
		}
		return w.Do(ctx, job)
	}
}
