package a2a

import (
	"net/http"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// codec is one dialect: pure functions between its bytes and the task model.
type codec interface {
	// detect reports whether the request is of this dialect. Codecs are asked in
	// the order of their list; the first that says yes has it.
	detect(h head) bool

	// decode reads the call. Its errors are refusals or fault.Invalid that name
	// the member at fault.
	decode(h head) (call, error)

	// task and card return what goes into the result member.
	task(t *sdk.Task) any
	card(a Agent) any
}

// codecs are the dialects served, in the order in which they are asked.
var codecs = []codec{trueCost{}}

// operation is what a call asks for.
type operation int

const (
	sendMessage operation = iota
	getTask
	getCard
)

// call is a request of any dialect in the words of the task model.
type call struct {
	op      operation
	message *sdk.Message // of sendMessage; the data of its parts is json.RawMessage
	task    sdk.TaskID   // of getTask
}

// sniff chooses the codec of a request.
func sniff(r *http.Request, h head) (codec, error) {
	version := r.Header.Get(sdk.SvcParamVersion)
	if version == "" {
		version = r.URL.Query().Get(sdk.SvcParamVersion)
	}
	if version != "" && version != "0.3" && !strings.HasPrefix(version, "0.3.") {
		return nil, refuse(http.StatusOK, codeVersion, "%s: this agent does not speak that version", sdk.SvcParamVersion)
	}
	for _, c := range codecs {
		if c.detect(h) {
			return c, nil
		}
	}
	return nil, refuse(http.StatusOK, codeMethodNotFound, "method: this agent has no such method")
}
