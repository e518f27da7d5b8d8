// Package deadletter takes the messages that a subscription gave up. Nothing is
// lost with them: what is due stands in the store. The function writes the alarm
// that an operator should see, and wakes the run; a task is left to the sweep.
package deadletter

import (
	"context"
	"fmt"
	"log/slog"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/runner"
)

// Attributes with which Pub/Sub says where a dead letter comes from.
const (
	attempts     = "CloudPubSubDeadLetterSourceDeliveryCount"
	subscription = "CloudPubSubDeadLetterSourceSubscription"
)

// Handle returns what to do with a message that was given up.
func Handle(open func() (*runner.Runner, error), log *slog.Logger) func(ctx context.Context, data []byte, attributes map[string]string) error {
	return func(ctx context.Context, data []byte, attributes map[string]string) error {
		reason := fmt.Sprintf("delivered %s times by %s", word(attributes[attempts]), word(attributes[subscription]))
		if job, err := task.DecodeJob(data); err == nil {
			log.ErrorContext(ctx, "dead letter", slog.String("agent", job.Agent), slog.String("task", string(job.ID)),
				slog.String("do", job.Do), slog.String("reason", reason))
			return nil
		}
		r, err := open()
		if err != nil {
			return err
		}
		return r.DeadLetter(ctx, data, reason)
	}
}

func word(s string) string {
	if s == "" {
		return "?"
	}
	return s
}
