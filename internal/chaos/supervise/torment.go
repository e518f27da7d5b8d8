package supervise

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// A Span is a range of pauses.
type Span [2]time.Duration

// Draw returns a pause of the range.
func (s Span) Draw(r *rand.Rand) time.Duration {
	return s[0] + time.Duration(r.Int64N(int64(s[1]-s[0])))
}

// A Torment does bad things again and again.
type Torment struct{ all sync.WaitGroup }

// Often acts after each pause drawn from every, until ctx ends. What is drawn
// follows from seed and stream.
func (t *Torment) Often(ctx context.Context, seed, stream uint64, every Span, act func(r *rand.Rand)) {
	r := rand.New(rand.NewPCG(seed, stream)) //nolint:gosec // G404: a seed's kills are to be drawn alike
	t.all.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(every.Draw(r)):
				act(r)
			}
		}
	})
}

// Wait returns when everything has ended that Often began.
func (t *Torment) Wait() { t.all.Wait() }
