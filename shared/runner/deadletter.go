package runner

import (
	"context"
	"log/slog"

	"truecost.dev/shared/fault"
)

// DeadLetter takes a message that was delivered in vain so often that its
// subscription gave it up. Nothing is lost with it, for the store knows what is
// due: the alarm is written, and the run is woken.
func (r *Runner) DeadLetter(ctx context.Context, data []byte, reason string) error {
	m, err := DecodeMessage(data)
	if err != nil {
		r.Log.ErrorContext(ctx, "dead letter cannot be read", slog.String("reason", reason), slog.Any("error", err))
		return nil
	}
	r.Log.ErrorContext(ctx, "dead letter", slog.String("run", m.Run), slog.String("step", string(m.Step)), slog.String("reason", reason))
	run, p, err := r.load(ctx, m.Run)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if run.Status.Ended() {
		return nil
	}
	wake := Message{V: messageVersion, Run: m.Run, Rev: run.Rev, Flow: p.Flow.ID}
	return r.Bus.Publish(ctx, wake)
}
