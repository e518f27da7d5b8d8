package engine

import (
	"encoding/json"
	"time"
)

// Event is something that happened to a run. The set is closed.
type Event interface{ event() }

// Started begins a run that does not exist yet.
type Started struct {
	EstimateID, Owner, Project string
	N                          int
	Input                      string         // hash of the start request
	Facts                      map[string]any // of the run's input: see Flow.Facts

	// Of a run that tries another one again.
	Parent  string
	Carried map[string]Progress // nodes that had settled there; Progress.From is filled in
	Edits   map[string]string   // by node: the input that holds members to replace
}

// Finished says that a step ended, for good.
type Finished struct {
	Step    StepID
	Failure *Error         // nil: the agent answered
	Score   int            // of a scorer that answered, 0–100
	Facts   map[string]any // of the output that the step brought or judged
	Fan     *Fan           // of an expand step
}

// Retryable says that the call of a step failed in a way that another try may
// mend. After is the least pause the agent asked for; 0 when it did not.
type Retryable struct {
	Step    StepID
	After   time.Duration
	Working bool  // nothing failed: the agent is still at work, and is asked again without using up a try
	Failure Error // what the run fails with when the budget is used up
}

// InputNeeded says that the agent of a step asks a person.
type InputNeeded struct {
	Step   StepID
	Prompt string
	Schema json.RawMessage // JSON Schema of the answer; nil: any object
}

// InputGiven answers a question. The answer itself is stored; the state needs
// only the decision.
type InputGiven struct {
	ID       string
	By       string
	Decision Decision
}

// Decision of a person who was asked.
type Decision string

// The decisions. Accept answers AskExhausted alone, Answer everything else.
const (
	Answer Decision = "answer"
	Accept Decision = "accept"  // the best attempt is good enough
	GiveUp Decision = "give_up" // the node is exhausted
)

// ShardsDone says that every chunk of a fan-out has its result, or, with a
// Failure, that it is given up.
type ShardsDone struct {
	Node    string
	Attempt int
	Failed  int // chunks that failed and were collected
	Failure *Error
}

// HoldRequested stops the run from opening steps until ResumeRequested.
type HoldRequested struct{ By, Reason string }

// ResumeRequested ends a hold.
type ResumeRequested struct{ By string }

// CancelRequested ends a run by its owner's wish.
type CancelRequested struct{ By string }

// DeadlinePassed says that time is up: of the step, of the question, or, when
// neither is named, of the run. It is stale before that.
type DeadlinePassed struct {
	Step  StepID
	Since time.Time // when the try of the step began
	Input string
}

func (Started) event()         {}
func (Finished) event()        {}
func (Retryable) event()       {}
func (InputNeeded) event()     {}
func (InputGiven) event()      {}
func (ShardsDone) event()      {}
func (HoldRequested) event()   {}
func (ResumeRequested) event() {}
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

// Effects are what must follow from an applied event. Outputs, Ask and View
// belong into the commit of the state, Publish and Cancel follow it.
type Effects struct {
	Publish []StepID // to be sent now, in flow order
	Outputs []Output
	Ask     []Question
	Cancel  []StepID // calls in flight that nobody waits for any more
	View    bool     // the view is to be written
}

// Output says whose result is now the output of a node.
type Output struct {
	Node  string
	Step  StepID // the step that produced it
	Phase Phase  // Passed, Degraded, NodeFailed; Waiting when a person decides
}

// Question is to be put to a person.
type Question struct {
	ID        string
	Node      string
	Kind      AskKind
	Step      StepID // the call that asked, of an AskAgent
	Prompt    string
	Schema    json.RawMessage
	ExpiresAt time.Time
}
