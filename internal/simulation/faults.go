package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Kind of a fault.
type Kind string

// The kinds. The empty one is no fault.
const (
	Fails      Kind = "fails"       // not applied, with an error
	Unheard    Kind = "unheard"     // applied, with an error all the same
	Late       Kind = "late"        // held up on its way
	Dies       Kind = "dies"        // the instance dies before it is applied
	DiesAfter  Kind = "dies after"  // the instance dies when it has been applied
	Freezes    Kind = "freezes"     // the instance stands still, then goes on
	Lost       Kind = "lost"        // published messages vanish
	Doubled    Kind = "doubled"     // published messages are delivered twice
	AgentFalls Kind = "agent falls" // the agent dies between paying and storing
)

// Fault is what happens at a yield point.
type Fault struct {
	Kind Kind
	For  time.Duration // of Late and Freezes
}

func (f Fault) String() string {
	if f.For > 0 {
		return fmt.Sprintf("%s %v", f.Kind, f.For)
	}
	return string(f.Kind)
}

// deed is what a parked goroutine is about to do; it decides which faults can
// happen to it.
type deed int

const (
	reading deed = iota
	writing
	publishing
	calling  // an agent is asked
	awaiting // an agent is at work, or a pause is waited out
	telling  // an agent is told to stop
)

// can lists the faults of a deed.
func (d deed) can() []Kind {
	switch d {
	case reading, telling:
		return []Kind{Fails, Late, Dies, Freezes}
	case writing:
		return []Kind{Fails, Unheard, Late, Dies, DiesAfter, Freezes}
	case publishing:
		return []Kind{Fails, Unheard, Late, Dies, DiesAfter, Freezes, Lost, Doubled}
	case calling:
		return []Kind{Fails, Unheard, Late, Dies, Freezes, AgentFalls}
	default:
		return []Kind{Dies, Freezes}
	}
}

// allows reports whether a fault can happen to a deed.
func (d deed) allows(k Kind) bool {
	return slices.Contains(d.can(), k)
}

// Point is a yield point: somebody is about to do something.
type Point struct {
	Yield int           // counted from 1
	At    time.Duration // since the world began
	What  string        // as in the trace
	deed  deed
}

// Chaos decides what happens at the yield points of a world, in their order.
type Chaos interface {
	At(p Point) Fault
}

// None is a world without faults.
type None struct{}

// At implements Chaos.
func (None) At(Point) Fault { return Fault{} }

// Random draws faults from a seed, until as many have happened as it was given.
type Random struct {
	rng  *rand.Rand
	left int
	rate float64
}

// quiet is when random faults end at the latest.
const quiet = 90 * time.Minute

// NewRandom returns the chaos of a seed. Some seeds are calm and some are not.
func NewRandom(seed uint64) *Random {
	rng := rand.New(rand.NewPCG(seed, 0xfa017)) //nolint:gosec // a test is to be repeatable
	rates := []float64{0.01, 0.03, 0.1, 0.25}
	return &Random{rng: rng, left: rng.IntN(13), rate: rates[rng.IntN(len(rates))]}
}

// At implements Chaos.
func (r *Random) At(p Point) Fault {
	if r.left == 0 || p.At > quiet || r.rng.Float64() >= r.rate {
		return Fault{}
	}
	r.left--
	can := p.deed.can()
	return newFault(can[r.rng.IntN(len(can))], r.rng.Float64())
}

// newFault gives a fault its length; u is uniform in [0, 1).
func newFault(k Kind, u float64) Fault {
	switch k {
	case Late: // up to a minute, mostly a few seconds
		return Fault{k, time.Duration(u * u * u * float64(time.Minute))}
	case Freezes: // up to five minutes: about half of them outlive a lease
		return Fault{k, time.Duration(u * float64(5*time.Minute))}
	default:
		return Fault{Kind: k}
	}
}

// Planned is a fault at a certain yield point.
type Planned struct {
	Yield int
	Fault Fault
}

// Plan is a list of faults at certain yield points. Those that cannot happen
// there do not.
type Plan []Planned

// At implements Chaos.
func (p Plan) At(at Point) Fault {
	for _, planned := range p {
		if planned.Yield == at.Yield && at.deed.allows(planned.Fault.Kind) {
			return planned.Fault
		}
	}
	return Fault{}
}

// Scene is a list of faults, each at the first point after the one before that
// is about what it says.
type Scene struct {
	Cues []Cue
}

// Cue is a fault at what begins with On.
type Cue struct {
	On    string
	Fault Fault
}

// At implements Chaos.
func (s *Scene) At(p Point) Fault {
	if len(s.Cues) == 0 || !strings.HasPrefix(p.What, s.Cues[0].On) || !p.deed.allows(s.Cues[0].Fault.Kind) {
		return Fault{}
	}
	f := s.Cues[0].Fault
	s.Cues = s.Cues[1:]
	return f
}
