package pubsub

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// Faults makes a Server deliver as badly as the service is allowed to. What
// happens to a message is drawn from Seed, the subscription and the message's
// id alone, so that a run can be repeated. The zero Faults changes nothing.
type Faults struct {
	Seed     uint64
	Copies   int           // how often every message is delivered; 0 and 1 are once
	Delay    time.Duration // each copy waits a part of it that is drawn
	LoseAcks float64       // the part of acknowledgements, 0 to 1, that is taken for a nack
}

func (f Faults) active() bool { return f != Faults{} }

// schedule returns, for each copy of a message, how long it waits and what
// breaks ties with messages that are due at the same moment.
func (f Faults) schedule(subscription, message string, arrival uint64) []dose {
	if !f.active() {
		return []dose{{order: arrival}}
	}
	r := f.rand(subscription, message, "")
	copies := make([]dose, max(1, f.Copies))
	for i := range copies {
		copies[i].order = r.Uint64()
		if f.Delay > 0 {
			copies[i].wait = time.Duration(r.Int64N(int64(f.Delay)))
		}
	}
	return copies
}

type dose struct {
	wait  time.Duration
	order uint64
}

// losesAck tells whether the acknowledgement ackID gets lost.
func (f Faults) losesAck(subscription, message, ackID string) bool {
	return f.LoseAcks > 0 && f.rand(subscription, message, ackID).Float64() < f.LoseAcks
}

func (f Faults) rand(parts ...string) *rand.Rand {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write(append([]byte(p), 0)) // a hash takes everything
	}
	return rand.New(rand.NewPCG(f.Seed, h.Sum64())) //nolint:gosec // G404: faults must repeat, not surprise
}
