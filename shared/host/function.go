// Package host stands between an entry point and the world: it turns agents,
// callables and triggers into HTTP handlers with limits, deadlines, recovery
// and one log line per request, for whatever serves them (the functions
// framework in the cloud, the emulator on a desk).
package host

import (
	"net/http"
	"time"

	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/a2a/task"
)

// Kind of a function.
type Kind string

// The kinds.
const (
	Agent    Kind = "agent"    // A2A over HTTP
	Callable Kind = "callable" // Firebase callable over HTTP
	Event    Kind = "event"    // CloudEvents of a Pub/Sub topic
)

// Push says how Pub/Sub delivers to an Event function. A zero field leaves the
// choice to whoever makes the subscription.
type Push struct {
	Ack        time.Duration    // within which a delivery must be answered: 10 to 600 s, whole seconds
	Backoff    [2]time.Duration // the shortest and the longest pause before a message comes again: up to 600 s
	Deliveries int              // so many, then the dead-letter topic: 5 to 100
	DeadLetter string           // topic id
}

// Function is one deployable function of the module: a line of the table.
type Function struct {
	Name  string // entry point: a2a_location, start_deep_pipeline, pipeline_step
	Kind  Kind
	Topic string // of an Event function: the Pub/Sub topic id that triggers it
	Push  Push   // of an Event function: how the topic's messages reach it

	// Of an Agent function: its desk, which the queue's workers share, and its
	// cards, which a directory shows.
	Desk  func() *task.Desk
	Cards func() (*card.Cards, error)

	// Handler serves HTTP, without the /{project}/{region}/{name} prefix in the
	// path. For an Event function it takes CloudEvents in binary mode. It builds
	// what it needs at its first request, so that an instance pays for its own
	// function alone.
	Handler http.Handler
}
