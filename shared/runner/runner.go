package runner

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/engine"
)

// Runner executes runs. Its fields are set once, before first use.
type Runner struct {
	Store     Store
	Find      Finder // what Sweep and the limits look with
	Bus       Bus
	Caller    Caller
	Pipelines []Pipeline // every flow this code starts; Start takes the first
	Pace      Pace
	Limits    Limits
	Log       *slog.Logger

	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error // returns early with the context's error
	Owner func() string                              // a fresh random token per delivery

	flows    flowCache
	memory   memory
	breakers breakers
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
	SweepTime  time.Duration // how long one sweep goes on
	Delivery   time.Duration // what one delivery may take; 0 is no bound
}

// DefaultPace is what production runs with.
func DefaultPace() Pace {
	return Pace{
		Lease: 90 * time.Second, Beat: 30 * time.Second, QuickTries: 3, QuickBase: time.Second,
		WaitAtMost: 20 * time.Second, Grace: 5 * time.Second, SweepTime: 50 * time.Second, Delivery: 540 * time.Second,
	}
}

// Limits bound what one owner may start. Zero is no limit.
type Limits struct {
	InFlight  int // runs at work at once
	PerMinute int // starts in a minute
}

// Store keeps runs. Versions are the server's own update times: an
// implementation returns them with what it reads and refuses a write whose
// version is no longer the stored one. Payloads have no size: what does not fit
// into a document is kept beside it, and written before what refers to it.
type Store interface {
	// Run loads a run; fault.NotFound when there is none.
	Run(ctx context.Context, id string) (Run, error)

	// Steps loads the steps that exist among ids, in their order.
	Steps(ctx context.Context, run string, ids ...engine.StepID) ([]Step, error)

	// PutStep creates a step whose Version is zero and updates any other; it
	// returns the step with its new version. fault.Conflict when the step exists
	// already or changed meanwhile.
	PutStep(ctx context.Context, s Step) (Step, error)

	// Input loads what the run of an estimate was started with; fault.NotFound
	// when the estimate is gone.
	Input(ctx context.Context, estimate string) (json.RawMessage, error)

	// Inputs loads the questions and answers that exist among ids, in their order.
	Inputs(ctx context.Context, run string, ids ...string) ([]Input, error)

	// Shards loads the shards that exist among indexes, in their order.
	Shards(ctx context.Context, fan FanID, indexes ...int) ([]Shard, error)

	// OpenShards loads the shards that are active and not complete, by index.
	OpenShards(ctx context.Context, fan FanID) ([]Shard, error)

	// CompleteShards counts the shards that are complete.
	CompleteShards(ctx context.Context, fan FanID) (int, error)

	// CreateShards creates shards that do not exist yet and leaves the others as
	// they are. It may be interrupted between any two.
	CreateShards(ctx context.Context, fan FanID, shards []engine.Shard) error

	// Commit writes everything in c at once, or nothing: fault.Conflict when a
	// version is no longer the stored one or something to create exists.
	Commit(ctx context.Context, c Commit) error

	// Flow loads a stored flow by its hash; fault.NotFound when there is none.
	Flow(ctx context.Context, hash string) (*engine.Flow, error)

	// PutFlow stores a flow under its hash, once.
	PutFlow(ctx context.Context, f *engine.Flow) error

	// Started finds what a user's idempotency key has started; fault.NotFound
	// when it was not used, or longer than a day ago.
	Started(ctx context.Context, owner, key string) (Idempotency, error)
}

// Finder finds runs.
type Finder interface {
	// Due returns unfinished runs whose WakeAt is not after now, the most overdue
	// first, beginning behind after (zero: from the first).
	Due(ctx context.Context, now time.Time, after Due, limit int) ([]Due, error)

	// Census counts the runs of an owner that are at work, and those that were
	// created since a time.
	Census(ctx context.Context, owner string, since time.Time) (atWork, created int, err error)
}

// Due is a run that somebody should look at.
type Due struct {
	Run    string
	WakeAt time.Time
}

// Bus carries messages, at least once, in any order.
type Bus interface {
	// Publish returns when every message is stored.
	Publish(ctx context.Context, messages ...Message) error
}

// Caller calls agents. A transient fault kind says that another try may help.
type Caller interface {
	// Call asks agent and waits for its result while ctx lasts. id is the
	// idempotency key: the same id gets the same task and the same result,
	// computed once. An answer that is not final is no error: see
	// a2a.Result.State.
	Call(ctx context.Context, agent, id string, req a2a.Request) (a2a.Result, error)

	// Look asks for the task that an earlier call left at work, once.
	Look(ctx context.Context, agent, task string) (a2a.Result, error)

	// Cancel tells the agent that nobody waits for the task any more. A task that
	// is unknown or has ended is no error.
	Cancel(ctx context.Context, agent, task string) error
}

// Run is a stored run.
type Run struct {
	engine.State
	Journal
	Shown
	Version time.Time `json:"-"` // zero: not stored yet
}

// Shown is how much room the outputs of nodes take where frontends watch. It is
// the store's to fill in, which knows what there is room for; others carry it
// along.
type Shown struct {
	Bytes map[string]int `json:"shown,omitempty"` // by node
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
	Schema      int // of the run
	Status      StepStatus
	Call        string // idempotency key of the call
	Agent       string
	Try         int // claims so far
	Takeovers   int // of them, from an owner that fell silent
	Fence       int // orders log entries of successive owners
	Owner       string
	Lease       time.Duration
	Beats       int
	StartedAt   time.Time
	RequestHash string

	Task    string // the agent's task, when it was left at work or asked a person
	Context string // its conversation

	Result   json.RawMessage
	Failure  *engine.Error
	Score    int
	Tokens   int
	CostUSD  float64
	Duration time.Duration
	RevAt    int        // rev of the run this result produced; of a chunk or a shard: rev of the run when it was recorded
	Late     bool       // came after it was needed
	DoneAt   *time.Time // when it was recorded, to the moment: see History

	Version time.Time // server's update time; zero: not stored yet
	ReadAt  time.Time // server's clock when it was read
}

// Finished reports whether the step has its result.
func (s *Step) Finished() bool { return s.Status == Done || s.Status == StepFailed }

// Expired reports whether the claim's lease ran out, by the server's clock.
func (s *Step) Expired() bool { return s.ReadAt.Sub(s.Version) > s.Lease }

// Input is a question put to a person, with the answer once there is one; or,
// without a question, members that replace what a node reads (see
// engine.State.Edits).
type Input struct {
	Run    string
	ID     string
	Node   string
	Kind   string // engine.AskKind, or edit
	Prompt string
	Schema json.RawMessage

	AskedAt   time.Time
	ExpiresAt time.Time
	Task      string // the agent's task and conversation, of a question that an agent asked
	Context   string

	Decision   engine.Decision // empty: not answered
	Answer     json.RawMessage
	AnsweredBy string
	AnsweredAt *time.Time
	RevAt      int // rev of the run that the answer produced

	Version time.Time // zero: not stored yet
}

// FanID names a fan-out: one attempt of a node.
type FanID struct {
	Run     string
	Node    string
	Attempt int
}

// Shard is a stored shard.
type Shard struct {
	engine.Shard
	Version time.Time // server's update time; zero: not stored yet
	ReadAt  time.Time // server's clock when it was read
}

// quiet reports whether nothing happened to the shard for so long, by the
// server's clock.
func (s *Shard) quiet(age time.Duration) bool { return s.ReadAt.Sub(s.Version) >= age }

// Idempotency is what a user's key has started.
type Idempotency struct {
	Owner, Key string
	EstimateID string
	Input      string // hash of the request
	CreatedAt  time.Time
}

// Commit is one atomic write. What is zero is not written.
type Commit struct {
	Run    *Run
	Steps  []Step // created when their Version is zero
	Touch  []Step // claims whose owners must notice: their version moves
	Fan    FanID  // of Shards
	Shards []Shard
	Inputs []Input // created when their Version is zero

	EstimateID  string // whose documents follow; empty: none
	Start       *NewEstimate
	Idempotency *Idempotency
	View        *engine.View
	Project     string                     // the project whose pipeline/status gets the view as well; empty: none
	Feedback    map[string]json.RawMessage // by node: what its critic last said
	Chunks      map[string]ChunkProgress   // by node: how far its fan-out is
	Outputs     []Output
	Documents   Documents
}

// ChunkProgress is how far a fan-out is.
type ChunkProgress struct {
	Done int `json:"done"`
	Of   int `json:"of"`
}

// NewEstimate is what start_deep_pipeline writes beside the run.
type NewEstimate struct {
	Clarification json.RawMessage // as received
	Fields        map[string]any  // further root fields

	// Keep says that the estimate exists (a run tries another one again): its view
	// is replaced and everything else stays. Otherwise it must not exist.
	Keep bool
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
