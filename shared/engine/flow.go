package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// Flow is the immutable definition of a kind of run: a graph of nodes. It is
// addressed by its Hash, and a run keeps the flow it began with. Members that
// are zero are left out of its JSON form, so that a new kind of member does not
// change the address of a flow that does without it.
type Flow struct {
	ID     string        `json:"id"`
	Engine int           `json:"engine"` // generation of Next's behaviour this flow was written for
	Nodes  []Node        `json:"nodes"`  // in the order frontends show them
	Budget time.Duration `json:"budget"` // working time of a run, after which it fails; waiting for people does not count

	Input       string        `json:"input,omitempty"`       // the name agents know the run's input under; "" is clarification_output
	Outputs     []string      `json:"outputs,omitempty"`     // nodes whose outputs are what the run is for; none: every node's
	MaxParallel int           `json:"maxParallel,omitempty"` // nodes that are begun at once; 0 is 50. One that a person's answer continues is not held up
	Overdue     time.Duration `json:"overdue,omitempty"`     // how long after a step opened the sweeper looks whether anybody took it; 0 is 60 s
}

// Node is a vertex: an agent's work and, with a Gate, the judgment on it.
type Node struct {
	Name    string        `json:"name"`
	Agent   string        `json:"agent"`
	Needs   []string      `json:"needs,omitempty"` // nodes that must have settled, and whose outputs this one reads
	Gate    *Gate         `json:"gate,omitempty"`  // nil: the first valid output passes
	Weight  int           `json:"weight"`          // share of the progress bar
	Timeout time.Duration `json:"timeout"`         // of one call
	Retry   Retry         `json:"retry"`

	When      []Condition       `json:"when,omitempty"`      // all must hold, or the node is skipped
	Input     map[string]string `json:"inputs,omitempty"`    // member → reference; none: the run's input and {need}_output of every need
	Schema    json.RawMessage   `json:"schema,omitempty"`    // JSON Schema of the agent's output; none: any object
	FanOut    *FanOut           `json:"fanOut,omitempty"`    // the agent is called once per chunk of a list
	Pause     *Pause            `json:"pause,omitempty"`     // a person is asked before the agent works
	Ambiguous bool              `json:"ambiguous,omitempty"` // the agent is not idempotent: a call that may have been paid is not repeated
}

// Gate is the validation loop of a node.
type Gate struct {
	Scorer    string    `json:"scorer"`
	Critic    string    `json:"critic"`
	Threshold int       `json:"threshold"` // 0–100; a score at or above it passes
	Retries   int       `json:"retries"`   // quality retries after the first attempt
	Exhausted Exhausted `json:"onExhausted"`
}

// Exhausted says what becomes of a node that no attempt brought through.
type Exhausted string

// What becomes of an exhausted node.
const (
	Fail    Exhausted = "fail"    // the run fails
	Degrade Exhausted = "degrade" // the run goes on with the best attempt and is marked partial
	Ask     Exhausted = "ask"     // a person accepts the best attempt or gives up
)

// Retry is the durable budget for transport failures. It never costs a quality
// attempt.
type Retry struct {
	Tries int           `json:"tries"` // calls of one step in all
	Base  time.Duration `json:"base"`  // first pause; doubles per try
	Cap   time.Duration `json:"cap"`   // longest pause
}

// FanOut spreads the work of a node over the chunks of a list.
type FanOut struct {
	Over        string    `json:"over"`        // reference to the list
	Chunk       int       `json:"chunk"`       // items of one call
	MaxParallel int       `json:"maxParallel"` // chunks in flight at once
	OnItemError ItemError `json:"onItemError"`
}

// ItemError says what a chunk that failed for good does to its node.
type ItemError string

// What a failed chunk does.
const (
	FailAll ItemError = "fail"    // the node fails, its other chunks are told to stop
	Collect ItemError = "collect" // the node goes on; the run is marked partial
)

// Pause asks a person before the agent works. The answer is the member
// human_input of the agent's input.
type Pause struct {
	Prompt  string          `json:"prompt"`
	Schema  json.RawMessage `json:"schema,omitempty"`  // JSON Schema of the answer; none: any object
	Expires time.Duration   `json:"expires,omitempty"` // 0 is 7 days
}

// Limits of flows.
const (
	MaxNodes       = 200    // with what follows, keeps the document of a run below 100 KB
	maxFacts       = 20_000 // bytes of the facts that conditions read
	maxTexts       = 20_000 // bytes of prompts, and of messages of nodes that failed
	MaxChunks      = 10_000 // of one fan-out
	maxParallel    = 50     // nodes at work at once
	maxFanParallel = 400    // chunks in flight at once
	inputTime      = 7 * 24 * time.Hour
	overdue        = time.Minute
	stepGrace      = 20 * time.Second // beyond a step's timeout before it counts as passed
)

// Hash returns the content address of f.
func (f *Flow) Hash() string {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // a Flow is plain data
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Node returns the node called name, or nil.
func (f *Flow) Node(name string) *Node {
	for i := range f.Nodes {
		if f.Nodes[i].Name == name {
			return &f.Nodes[i]
		}
	}
	return nil
}

// InputName is the name agents know the run's input under.
func (f *Flow) InputName() string {
	if f.Input == "" {
		return "clarification_output"
	}
	return f.Input
}

// text returns the beginning of a prompt or a message, as long as the state of a
// run has room for when every node has one.
func (f *Flow) text(s string) string {
	room := min(maxPrompt, maxTexts/max(len(f.Nodes), 1))
	return strings.ToValidUTF8(s[:min(len(s), room)], "")
}

// parallel is how many nodes may be at work at once.
func (f *Flow) parallel() int {
	if f.MaxParallel == 0 {
		return maxParallel
	}
	return f.MaxParallel
}

// LookAfter is how old an open step is when somebody looks whether it was taken.
func (f *Flow) LookAfter() time.Duration {
	if f.Overdue == 0 {
		return overdue
	}
	return f.Overdue
}
