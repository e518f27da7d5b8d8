// Package sweep is the sweeper: called every minute by a scheduler, it finds the
// runs that nobody works on and sends their open steps again.
package sweep

import (
	"context"

	"truecost.dev/shared/runner"
)

// Handle returns what to do at a tick. What the message says does not matter.
func Handle(open func() (*runner.Runner, error)) func(context.Context, []byte) error {
	return func(ctx context.Context, _ []byte) error {
		r, err := open()
		if err != nil {
			return err
		}
		return r.Sweep(ctx)
	}
}
