package front

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/schema"
)

// fiveStep is the protocol of a requester that discovers an agent, submits a
// task, listens and uses the result: plain HTTP with one path per step. It knows
// its requests by their paths alone, and no path of it is one of A2A's.
//
//	POST /submit_task        202, and the task is queued
//	GET  /task_updates/{id}  server-sent events: the task as it is, then each change
//	GET  /task_status/{id}   the task in full
//	POST /cancel_task/{id}   the same, canceled; 409 when it had ended
type fiveStep struct {
	schemas map[string]func() (*schema.Schema, error) // of the input, by skill
}

// newFiveStep returns the codec of an agent. Schemas compile at their first use.
func newFiveStep(agent task.Agent) fiveStep {
	f := fiveStep{schemas: map[string]func() (*schema.Schema, error){}}
	for _, s := range agent.Skills {
		f.schemas[s.ID] = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(s.InputSchema) })
	}
	return f
}

// Limits of a request.
const (
	maxSubmission = 256 << 10 // bytes of the members of submit_task
	maxName       = 128       // characters of the name a requester gives itself
	maxKey        = 255       // bytes of an Idempotency-Key
	maxDetails    = 20        // faults of an input that an answer lists
)

// metaRequester is where a message keeps the name its requester gave itself. It
// is a claim, recorded and never believed.
const metaRequester = "requestingAgentId"

// keys turns an Idempotency-Key that is not a UUID into one.
var keys = uuid.NewSHA1(uuid.NameSpaceURL, []byte("urn:truecost:idempotency-key"))

// steps are what the first word of a path asks for. All but the first name a task
// after it.
var steps = []struct {
	word, method string
	op           operation
}{
	{word(wire.FiveStepSubmit), http.MethodPost, submitMessage},
	{word(wire.FiveStepUpdates), http.MethodGet, followTask},
	{word(wire.FiveStepStatus), http.MethodGet, getTask},
	{word(wire.FiveStepCancel), http.MethodPost, cancelTask},
}

// word returns the first word of a path.
func word(path string) string {
	w, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return w
}

func (fiveStep) detect(r request) bool {
	for _, s := range steps {
		if s.word == word(r.path) {
			return true
		}
	}
	return false
}

func (f fiveStep) decode(r request) (call, error) {
	first, id, named := strings.Cut(strings.TrimPrefix(r.path, "/"), "/")
	for _, s := range steps {
		switch {
		case s.word != first:
			continue
		case named != (s.op != submitMessage) || named && (id == "" || strings.Contains(id, "/")):
			return call{}, noRoute(r)
		case s.method != r.http.Method:
			return call{}, wrongMethod(s.method + ", OPTIONS")
		case s.op == submitMessage:
			return f.submission(r)
		}
		c := call{op: s.op, task: sdk.TaskID(id)}
		if s.op == followTask {
			return following(r, c)
		}
		return c, nil
	}
	return call{}, noRoute(r)
}

// following reads where a listener goes on. What a frame tells adds up from the
// beginning, so the whole log is read again, and frame leaves out what the
// listener has.
func following(r request, c call) (call, error) {
	c.ended, c.told = true, &told{seen: -1}
	c.hello = "updates of task " + string(c.task)
	last := r.http.Header.Get("Last-Event-ID")
	if last == "" {
		return c, nil
	}
	seq, err := strconv.ParseInt(last, 10, 64)
	if err != nil || seq < 0 {
		return call{}, fault.New(fault.Invalid, "Last-Event-ID: want the id of a frame")
	}
	c.after, c.told.seen = new(int64), seq
	return c, nil
}

// submission reads the body of submit_task as a message: the input is its data.
func (f fiveStep) submission(r request) (call, error) {
	size := int64(0)
	for name, value := range r.top {
		size += int64(len(name) + len(value))
	}
	if size > maxSubmission || r.http.ContentLength > maxSubmission {
		return call{}, wire.Refuse(http.StatusRequestEntityTooLarge, wire.CodeInvalidRequest, "the body is larger than %d bytes", maxSubmission)
	}
	requester, ok := r.top.Text("requesting_agent_id")
	if !ok || requester == "" || utf8.RuneCountInString(requester) > maxName {
		return call{}, fault.New(fault.Invalid, "requesting_agent_id: want a string of 1 to %d characters", maxName)
	}
	skill, ok := r.top.Text("skill_id")
	if !ok {
		return call{}, fault.New(fault.Invalid, "skill_id: want a string")
	}
	input := r.top["input_data"]
	if wire.First(input) != '{' {
		return call{}, fault.New(fault.Invalid, "input_data: want an object")
	}
	if err := f.check(skill, input); err != nil {
		return call{}, err
	}
	id, err := messageID(r)
	if err != nil {
		return call{}, err
	}
	msg := &sdk.Message{ID: id, Role: sdk.MessageRoleUser, Parts: sdk.ContentParts{sdk.NewDataPart(input)}}
	msg.SetMeta(wire.MetaSkill, skill)
	msg.SetMeta(metaRequester, requester)
	return call{op: submitMessage, send: task.Send{Message: msg, Keep: true}}, nil
}

// check compares an input with what the card promises of the skill.
func (f fiveStep) check(skill string, input json.RawMessage) error {
	compiled, ok := f.schemas[skill]
	if !ok {
		return fault.New(fault.Invalid, "skill_id: this agent has no such skill")
	}
	s, err := compiled()
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the schema of skill %s", skill)
	}
	found, err := s.Problems(input)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "input_data: %s", fault.Public(err))
	}
	if len(found) == 0 {
		return nil
	}
	for i, p := range found {
		if p.Path != "" && p.Path[0] != '[' {
			p.Path = "." + p.Path
		}
		found[i].Path = "input_data" + p.Path
	}
	return &fault.Error{Kind: fault.Invalid, Msg: schema.Summary(found), Details: found[:min(len(found), maxDetails)]}
}

// messageID returns the id of a message: the Idempotency-Key, so that what is
// submitted again is the same task. Only UUIDs name messages that come again, so
// any other key is made into one; without a key the message has no name of its own.
func messageID(r request) (string, error) {
	key := r.http.Header.Get("Idempotency-Key")
	switch id, err := uuid.Parse(key); {
	case key == "":
		return word(wire.FiveStepSubmit), nil
	case len(key) > maxKey:
		return "", fault.New(fault.Invalid, "Idempotency-Key: want at most %d bytes", maxKey)
	case err == nil:
		return id.String(), nil
	}
	return uuid.NewSHA1(keys, []byte(key)).String(), nil
}
