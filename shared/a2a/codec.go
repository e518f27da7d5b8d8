package a2a

import (
	"net/http"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// codec is one dialect: pure functions between its bytes and the task model.
type codec interface {
	// detect reports whether a request is of this dialect, by its path, then its
	// headers, then the members at the top of its body.
	detect(r request) bool

	// decode reads the call. Its errors are refusals, or fault.Invalid that names
	// the member at fault.
	decode(r request) (call, error)

	// encode returns the answer to r, or to what could be read of it when it was
	// refused.
	encode(r request, a answer) (status int, body []byte)
}

// codecs are the dialects served. They are asked in this order; the first that
// detects a request has it.
var codecs = []codec{trueCost{}}

// operation is what a call asks for.
type operation int

const (
	sendMessage operation = iota
	getTask
	cancelTask
	getCard
)

// call is a request of any dialect in the words of the task model.
type call struct {
	op      operation
	message *sdk.Message // of sendMessage; the data of its parts is json.RawMessage
	task    sdk.TaskID   // of getTask and cancelTask
}

// answer is what came of a call: one of the three.
type answer struct {
	task *sdk.Task
	card *Agent
	err  error
}

// sniff chooses the codec of a request. With an error it returns the codec that
// words the error: JSON-RPC is what most callers speak.
func sniff(r request) (codec, error) {
	for _, c := range codecs {
		if c.detect(r) {
			return c, nil
		}
	}
	if _, err := headOf(r.top); err != nil {
		return trueCost{}, err
	}
	if v := version(r.http); !early(v) {
		return trueCost{}, refuse(http.StatusOK, codeVersion, "%s: this agent does not speak that version", sdk.SvcParamVersion)
	}
	return trueCost{}, refuse(http.StatusOK, codeMethodNotFound, "method: this agent has no such method")
}

// version returns the A2A version a caller says it speaks.
func version(r *http.Request) string {
	if v := r.Header.Get(sdk.SvcParamVersion); v != "" {
		return v
	}
	return r.URL.Query().Get(sdk.SvcParamVersion)
}

// early reports whether v is a version in which methods are written with a
// slash: 0.3, which is also what no version means.
func early(v string) bool {
	return v == "" || v == "0.3" || strings.HasPrefix(v, "0.3.")
}
