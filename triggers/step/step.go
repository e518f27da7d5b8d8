// Package step is the stateless step function: one message, one step of a run.
// Everything it knows it reads; everything it did is stored before it answers.
// The same handler serves two topics, so that the calls of agents, which take
// minutes, do not slow what takes a moment.
package step

import (
	"context"

	"truecost.dev/shared/runner"
)

// Handle returns what to do with the data of a message.
func Handle(open func() (*runner.Runner, error)) func(context.Context, []byte) error {
	return func(ctx context.Context, data []byte) error {
		m, err := runner.DecodeMessage(data)
		if err != nil {
			return err
		}
		r, err := open()
		if err != nil {
			return err
		}
		return r.Handle(ctx, m)
	}
}
