// Package sweep is the sweeper: called every minute by a scheduler, it finds what
// nobody works on: runs, whose open steps are sent again, and tasks of agents,
// which go back into their queue.
package sweep

import "context"

// A Sweeper looks after what is due.
type Sweeper interface {
	Sweep(ctx context.Context) error
}

// Handle returns what to do at a tick. What the message says does not matter.
func Handle[S Sweeper](open func() (S, error)) func(context.Context, []byte) error {
	return func(ctx context.Context, _ []byte) error {
		s, err := open()
		if err != nil {
			return err
		}
		return s.Sweep(ctx)
	}
}
