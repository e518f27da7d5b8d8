package front

import (
	"net/http"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
)

// codec is one dialect: pure functions between its bytes and the task model.
type codec interface {
	// detect reports whether a request is of this dialect, by its path, then its
	// headers, then the members at the top of its body.
	detect(r request) bool

	// decode reads the call. Its errors are refusals, or fault.Invalid whose
	// message begins with the path of the member at fault: "params.message.role: want ...".
	decode(r request) (call, error)

	// encode writes what came of a call to r; of a request that was refused, c has
	// what could be read.
	encode(r request, c call, a answer) response

	// frame writes one event of the stream that answers c; ok is false for an
	// event the dialect has no word for. encode writes an error after the first
	// frame, as the data of the last, unless the codec is a breaker.
	frame(r request, c call, f task.Frame) (e event, ok bool)
}

// breaker is a codec with a frame of its own for an error in a stream under way.
type breaker interface {
	broken(c call, err error) event
}

// operation is what a call asks for.
type operation int

const (
	sendMessage   operation = iota // wait for the end of the turn
	callMessage                    // the same, but a repetition is answered at once
	submitMessage                  // queue, and answer at once
	streamMessage
	getTask
	listTasks
	cancelTask
	followTask
	putHook
	getHook
	listHooks
	dropHook
	getCard         // the dialect's own, which encode writes from the agent
	getExtendedCard // the card for callers who said who they are
)

// call is a request of any dialect in the words of the task model.
type call struct {
	op   operation
	send task.Send  // of the operations on messages
	task sdk.TaskID // of the others
	hook task.Hook  // of putHook; Config.ID also of getHook and dropHook
	list task.Query // of listTasks

	history   *int // how many of the latest messages to answer with; nil: all
	artifacts bool // of listTasks: answer with them

	after *int64 // of followTask: the event after which to resume
	ended bool   // of followTask and cancelTask: a task that has ended is answered too, not refused
	told  *told  // of followTask, in a dialect whose frames repeat what came before
	hello string // of followTask: the comment that the stream begins with; empty: none
}

// answer is what came of a call: one of these, or nothing for dropHook.
type answer struct {
	task    *sdk.Task
	seq     int64        // number of the last event in task
	message *sdk.Message // the agent's answer without a task
	page    *task.Listing
	hook    *sdk.PushConfig
	hooks   []*sdk.PushConfig
	card    []byte // JSON
	err     error
}

// request is a request that passed the guard.
type request struct {
	http  *http.Request // for method, path, query and headers; the body is read
	path  string        // below the agent, "/" at least, without a slash at its end otherwise
	top   wire.Members  // of the object in the body; nil without a body
	agent task.Agent
	base  string // absolute address of the agent, without a slash at its end; empty: none is configured
}

// response is an answer as it goes out.
type response struct {
	status int
	media  string // empty: application/json
	body   []byte
}

// event is a frame of server-sent events.
type event struct {
	name string // empty: message
	id   string // empty: none
	data []byte // one line
}

// accept returns the media types that the caller takes, as it names them.
func (r request) accept() string {
	if r.http == nil {
		return ""
	}
	return strings.Join(r.http.Header.Values("Accept"), ",")
}
