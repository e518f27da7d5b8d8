package runner

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// Runner executes runs. Its fields are set once, before first use.
type Runner struct {
	Store     Store
	Bus       Bus
	Caller    Caller
	Pipelines []Pipeline // every flow this code can run; the first is started
	Pace      Pace
	Log       *slog.Logger

	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error // returns early with the context's error
	Owner func() string                              // a fresh random token per delivery
}

// Pipeline is a flow together with what its outputs mean to readers.
type Pipeline struct {
	Flow *engine.Flow

	// Documents returns what else becomes visible, in the same commit, when the
	// output of a node passes. outputs holds the inputs and outputs by member
	// name: clarification_output, location_output, …
	Documents func(node string, outputs map[string]json.RawMessage) (Documents, error)
}

// Documents are further fields and documents of an estimate.
type Documents struct {
	Root  map[string]any // fields of estimates/{id}
	Items []Document     // documents below estimates/{id}
}

// Document is one document below an estimate.
type Document struct {
	Collection string // costItems
	ID         string
	Fields     any // encodable as a JSON object
}

// Pace holds the durations of the loop. Tests run the same code in milliseconds.
type Pace struct {
	Lease      time.Duration // a claim not renewed for so long is anybody's
	Beat       time.Duration // a claim is renewed this often during a call
	QuickTries int           // calls within one delivery
	QuickBase  time.Duration // first pause between them; doubles, full jitter
	WaitAtMost time.Duration // a step due sooner than this is waited for, later ones are the sweeper's
	Grace      time.Duration // an open step this old was forgotten by somebody: catchUp publishes it
}

// DefaultPace is what production runs with.
func DefaultPace() Pace {
	return Pace{
		Lease: 90 * time.Second, Beat: 30 * time.Second, QuickTries: 3, QuickBase: time.Second,
		WaitAtMost: 20 * time.Second, Grace: 10 * time.Second,
	}
}

// Store keeps runs. Versions are the server's own update times: an
// implementation returns them with what it reads and refuses a write whose
// version is no longer the stored one.
type Store interface {
	// Run loads a run; fault.NotFound when there is none.
	Run(ctx context.Context, id string) (Run, error)

	// Steps loads the steps that exist among ids, in their order.
	Steps(ctx context.Context, run string, ids ...engine.StepID) ([]Step, error)

	// Inputs loads the clarified scope and the outputs of nodes, by the names
	// agents know them under: clarification_output, {node}_output. What does not
	// exist is absent; fault.NotFound when the estimate is gone.
	Inputs(ctx context.Context, estimate string, nodes []string) (map[string]json.RawMessage, error)

	// PutStep creates a step whose Version is zero and updates any other; it
	// returns the step with its new version. fault.Conflict when the step exists
	// already or changed meanwhile.
	PutStep(ctx context.Context, s Step) (Step, error)

	// Commit writes everything in c at once, or nothing: fault.Conflict when a
	// version is no longer the stored one or something to create exists.
	Commit(ctx context.Context, c Commit) error
}

// Finder finds the runs that somebody should look at.
type Finder interface {
	// Due returns the ids of unfinished runs whose WakeAt is not after now, the
	// most overdue first.
	Due(ctx context.Context, now time.Time, limit int) ([]string, error)
}

// Bus carries messages, at least once, in any order.
type Bus interface {
	// Publish returns when every message is stored.
	Publish(ctx context.Context, messages ...Message) error
}

// Caller calls agents. A transient fault kind says that another try may help.
type Caller interface {
	// Call asks agent. id is the idempotency key: the same id gets the same
	// result, computed once.
	Call(ctx context.Context, agent, id string, req a2a.Request) (a2a.Result, error)
}

// Run is a stored run.
type Run struct {
	engine.State
	Version time.Time // zero: not stored yet
}

// StepStatus of a stored step.
type StepStatus string

// The statuses.
const (
	Claimed    StepStatus = "claimed"
	Done       StepStatus = "done"
	StepFailed StepStatus = "failed"
)

// Step is the record of one agent call: the claim, then the result. It is the
// audit trail; a request is kept as its hash, since it can be rebuilt.
type Step struct {
	Run         string
	ID          engine.StepID
	Status      StepStatus
	Call        string // idempotency key of the call
	Agent       string
	Try         int // claims so far
	Fence       int // orders log entries of successive owners
	Owner       string
	Lease       time.Duration
	Beats       int
	StartedAt   time.Time
	RequestHash string

	Result   json.RawMessage
	Failure  *engine.Error
	Score    int
	Tokens   int
	Duration time.Duration
	RevAt    int  // rev of the run this result produced
	Late     bool // came after it was needed
	DoneAt   *time.Time

	Version time.Time // server's update time
	ReadAt  time.Time // server's clock when it was read
}

// Finished reports whether the step has its result.
func (s *Step) Finished() bool { return s.Status == Done || s.Status == StepFailed }

// Expired reports whether the claim's lease ran out, by the server's clock.
func (s *Step) Expired() bool { return s.ReadAt.Sub(s.Version) > s.Lease }

// Commit is one atomic write.
type Commit struct {
	Run       Run
	Step      *Step
	Touch     []Step // claims whose owners must notice: their version moves
	Start     *NewEstimate
	View      *engine.View
	Feedback  map[string]json.RawMessage // by node: what its critic last said
	Outputs   []Output
	Documents Documents
}

// NewEstimate is what start_deep_pipeline writes beside the run. The estimate
// must not exist.
type NewEstimate struct {
	Clarification json.RawMessage // as received
	Fields        map[string]any  // further root fields
}

// Output is the visible output of a node.
type Output struct {
	Node      string
	Agent     string
	Phase     engine.Phase
	Attempt   int
	Data      json.RawMessage
	Score     int
	Tokens    int
	Duration  time.Duration
	StartedAt time.Time
	DoneAt    time.Time
}

// pipeline returns the pipeline a run is pinned to.
func (r *Runner) pipeline(hash string) (*Pipeline, error) {
	for i := range r.Pipelines {
		if r.Pipelines[i].Flow.Hash() == hash {
			return &r.Pipelines[i], nil
		}
	}
	return nil, fault.New(fault.Internal, "no flow %s in this build", hash)
}
