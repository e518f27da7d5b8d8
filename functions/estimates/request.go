package estimates

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/fault"
)

// anonymous owns what nobody signed in for. Only the local system lets such
// callers in.
const anonymous = "local"

// Bounds of what a call may bring and get.
const (
	maxPage  = 100       // elements of a list
	maxGiven = 200 << 10 // bytes of an answer or an edit
)

// decode reads the data of a call into a request and says who asks.
func decode(call callable.Call, into any) (user string, err error) {
	var who struct {
		UserID string `json:"userId"`
	}
	if !bytes.HasPrefix(bytes.TrimSpace(call.Data), []byte("{")) {
		return "", wanted("data", "an object")
	}
	for _, v := range []any{&who, into} {
		if err := json.Unmarshal(call.Data, v); err != nil {
			return "", misfit(err)
		}
	}
	switch {
	case call.User != "" && who.UserID != "" && who.UserID != call.User:
		return "", fault.New(fault.Denied, "userId is not the user who is signed in")
	case call.User != "":
		return call.User, nil
	case who.UserID != "":
		return who.UserID, nil // anonymous callers exist on the local system alone
	}
	return anonymous, nil
}

// misfit says which member of a request has the wrong kind of value.
func misfit(err error) error {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || e.Field == "" {
		return wanted("data", "a JSON object")
	}
	what := map[reflect.Kind]string{reflect.String: "a text", reflect.Int: "a whole number"}[e.Type.Kind()]
	field := e.Field[strings.LastIndexByte(e.Field, '.')+1:] // requests are flat: a dot stands behind an embedded type
	return wanted(field, orElse(what, "another kind of value"))
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// subject says which estimate or run a call is about. Both generations of names
// are read.
type subject struct {
	EstimateID      string `json:"estimateId"`
	EstimateIDSnake string `json:"estimate_id"`
	RunID           string `json:"runId"`
	RunIDSnake      string `json:"run_id"`
}

var (
	estimateID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
	runID      = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}~[1-9][0-9]{0,5}$`)
	reserved   = regexp.MustCompile(`^__.*__$`) // such ids belong to Firestore
)

// read takes the names together and refuses what cannot be an id.
func (s *subject) read() error {
	s.EstimateID = orElse(s.EstimateID, s.EstimateIDSnake)
	s.RunID = orElse(s.RunID, s.RunIDSnake)
	switch {
	case s.EstimateID != "" && (!estimateID.MatchString(s.EstimateID) || reserved.MatchString(s.EstimateID)):
		return wanted("estimateId", "1 to 128 letters, digits, _ or -, not __like_this__")
	case s.RunID != "" && !runID.MatchString(s.RunID):
		return wanted("runId", "the id of a run, as est-1~1")
	}
	return nil
}

// needEstimate is read for calls about a whole estimate.
func (s *subject) needEstimate() error {
	err := s.read()
	if err == nil && s.EstimateID == "" {
		return missing("estimateId", "the id of an estimate")
	}
	return err
}

// needRun is read for calls about one run.
func (s *subject) needRun() error {
	err := s.read()
	if err == nil && s.EstimateID == "" && s.RunID == "" {
		return missing("estimateId", "the id of an estimate, or runId")
	}
	return err
}

// given refuses a payload that is too large.
func given(field string, raw json.RawMessage) error {
	if len(raw) > maxGiven {
		return wanted(field, fmt.Sprintf("at most %d bytes, got %d", maxGiven, len(raw)))
	}
	return nil
}

// absent reports whether a member was left out or null.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// page returns how many elements a list may have.
func page(limit *int, otherwise int) (int, error) {
	switch {
	case limit == nil:
		return otherwise, nil
	case *limit < 1, *limit > maxPage:
		return 0, wanted("limit", fmt.Sprintf("a number from 1 to %d", maxPage))
	}
	return *limit, nil
}
