package script

import (
	"crypto/sha256"
	"math/rand/v2"
	"time"
)

// Fate is what becomes of one call of an agent.
type Fate struct {
	Pause   time.Duration // how long the agent works
	Busy    int           // how often it answers that it is busy before it works: a failure that may pass
	Refuses bool          // it fails for good
	Score   int           // what a scorer says, 0–100
}

// Chances, of 100.
const (
	busyChance   = 6
	refuseChance = 1
	belowChance  = 25 // that a score is below the pass mark
)

// PassMark is the score at which an output passes.
const PassMark = 80

const longestPause = 300 * time.Millisecond

// Of returns the fate of the call with an id.
func Of(call string) Fate {
	r := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(call)))) //nolint:gosec // G404: a fate must repeat, not surprise
	f := Fate{
		Pause:   time.Duration(r.Int64N(int64(longestPause))),
		Refuses: r.IntN(100) < refuseChance,
		Score:   PassMark + r.IntN(101-PassMark),
	}
	if r.IntN(100) < busyChance {
		f.Busy = 1
	}
	if r.IntN(100) < belowChance {
		f.Score = r.IntN(PassMark)
	}
	return f
}
