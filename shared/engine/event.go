package engine

import "time"

// Event is something that happened to a run. The set is closed.
type Event interface{ event() }

// Started begins a run that does not exist yet.
type Started struct {
	EstimateID, Owner, Project string
	N                          int
	Input                      string // hash of the start request
}

// Finished says that the call of a step ended, for good.
type Finished struct {
	Step    StepID
	Failure *Error // nil: the agent answered
	Score   int    // of a scorer that answered, 0–100
}

// Retryable says that the call of a step failed in a way that another try may
// mend. After is the least pause the agent asked for; 0 when it did not.
type Retryable struct {
	Step    StepID
	After   time.Duration
	Failure Error // what the run fails with when the budget is used up
}

// CancelRequested ends a run by its owner's wish.
type CancelRequested struct{ By string }

// DeadlinePassed ends a run whose working time is over. It is stale before the
// deadline.
type DeadlinePassed struct{}

func (Started) event()         {}
func (Finished) event()        {}
func (Retryable) event()       {}
func (CancelRequested) event() {}
func (DeadlinePassed) event()  {}

// Verdict says what became of an event.
type Verdict string

// The verdicts. Stale is normal: the event came twice, late or for an older
// attempt. Invalid cannot happen in a sound system and is an alarm. Neither
// changes the state.
const (
	Applied Verdict = "applied"
	Stale   Verdict = "stale"
	Invalid Verdict = "invalid"
)

// Effects are what must follow from an applied event. Outputs and View belong
// into the commit of the state, Publish follows it.
type Effects struct {
	Publish []StepID // newly open, in flow order
	Outputs []Output
	Cancel  []StepID // calls in flight that nobody waits for any more
	View    bool     // the view changed in a way its readers care for
}

// Output says whose result is now the output of a node.
type Output struct {
	Node  string
	Step  StepID // the primary step that produced it
	Phase Phase  // Passed, Degraded or NodeFailed
}
