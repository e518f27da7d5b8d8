package runner

import (
	"encoding/json"
	"slices"
	"time"

	"truecost.dev/shared/engine"
)

// maxJournal bounds what a run keeps of its controls, in bytes of JSON: about a
// hundred of them.
const maxJournal = 12 << 10

// Journal is what a run keeps of the events that neither a step nor an answer
// records. It is written with the run, so it costs no write; a run that nothing
// disturbs has none. Runs of schema 1 keep none either.
type Journal struct {
	Controls  []Control `json:"controls,omitempty"`
	Forgotten int       `json:"forgotten,omitempty"` // revs of older controls that had no room: such a run cannot be folded
}

// ControlKind says which event a control is.
type ControlKind string

// The kinds of controls.
const (
	ControlRetry    ControlKind = "retry"    // a try failed or outlived its time, and another follows
	ControlWorking  ControlKind = "working"  // the agent is still at work, and is asked again
	ControlShards   ControlKind = "shards"   // the end of a fan-out
	ControlHold     ControlKind = "hold"     // by a person
	ControlResume   ControlKind = "resume"   // by a person
	ControlCancel   ControlKind = "cancel"   // by a person
	ControlDeadline ControlKind = "deadline" // of the run, or of the question Input
)

// Control is an event that neither a step nor an answer records.
type Control struct {
	Rev     int           `json:"rev"` // of the run after it
	At      time.Time     `json:"at"`
	Kind    ControlKind   `json:"kind"`
	By      string        `json:"by,omitempty"`
	Reason  string        `json:"reason,omitempty"` // of a hold
	Step    engine.StepID `json:"step,omitempty"`
	After   time.Duration `json:"after,omitempty"` // the pause that the agent asked for
	Times   int           `json:"times,omitempty"` // so many in a row, of which this is the last; 0 is 1
	Input   string        `json:"input,omitempty"` // the question that expired
	Node    string        `json:"node,omitempty"`  // of a fan-out
	Attempt int           `json:"attempt,omitempty"`
	Failed  int           `json:"failed,omitempty"` // chunks that failed and were collected
	Failure *engine.Error `json:"failure,omitempty"`
}

// controlOf is what the journal keeps of an event that led to a state; ok is
// false for one that is recorded elsewhere.
func controlOf(e engine.Event, s *engine.State) (c Control, ok bool) {
	c = Control{Rev: s.Rev, At: s.UpdatedAt}
	switch e := e.(type) {
	case engine.Retryable:
		c.Kind, c.Step, c.After = ControlRetry, e.Step, e.After
		if e.Working {
			c.Kind = ControlWorking
		} else {
			c.Failure = &e.Failure
		}
	case engine.DeadlinePassed:
		c.Kind, c.Input = ControlDeadline, e.Input
	case engine.ShardsDone:
		c.Kind, c.Node, c.Attempt, c.Failed, c.Failure = ControlShards, e.Node, e.Attempt, e.Failed, e.Failure
	case engine.HoldRequested:
		c.Kind, c.By, c.Reason = ControlHold, e.By, s.Hold.Reason
	case engine.ResumeRequested:
		c.Kind, c.By = ControlResume, e.By
	case engine.CancelRequested:
		c.Kind, c.By = ControlCancel, e.By
	default:
		return c, false
	}
	return c, true
}

// event is the event that the control is; nil for a kind that this code does not
// know.
func (c *Control) event() engine.Event {
	switch c.Kind {
	case ControlRetry:
		e := engine.Retryable{Step: c.Step, After: c.After}
		if c.Failure != nil {
			e.Failure = *c.Failure
		}
		return e
	case ControlWorking:
		return engine.Retryable{Step: c.Step, After: c.After, Working: true}
	case ControlShards:
		return engine.ShardsDone{Node: c.Node, Attempt: c.Attempt, Failed: c.Failed, Failure: c.Failure}
	case ControlHold:
		return engine.HoldRequested{By: c.By, Reason: c.Reason}
	case ControlResume:
		return engine.ResumeRequested{By: c.By}
	case ControlCancel:
		return engine.CancelRequested{By: c.By}
	case ControlDeadline:
		return engine.DeadlinePassed{Input: c.Input}
	default:
		return nil
	}
}

// after returns the journal with the event that led to a state. An agent that
// stays at work takes one entry, however often it is asked; the oldest entries
// go when there is no room.
func (j Journal) after(e engine.Event, s *engine.State) Journal {
	c, ok := controlOf(e, s)
	if !ok || s.Schema < 2 {
		return j
	}
	list := slices.Clone(j.Controls)
	if n := len(list); n > 0 && c.Kind == ControlWorking && list[n-1].Kind == c.Kind && list[n-1].Step == c.Step && list[n-1].Rev == c.Rev-1 {
		c.Times = list[n-1].times() + 1
		list = list[:n-1]
	}
	j.Controls = append(list, c)
	for size(j.Controls) > maxJournal && len(j.Controls) > 1 {
		j.Forgotten += j.Controls[0].times()
		j.Controls = j.Controls[1:]
	}
	return j
}

func (c *Control) times() int { return max(c.Times, 1) }

func size(controls []Control) int {
	b, err := json.Marshal(controls)
	if err != nil {
		panic(err) // controls are plain data
	}
	return len(b)
}
