package estimates

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// anonymous owns what nobody signed in for. Only the local system lets such
// callers in.
const anonymous = "local"

// Store is what the callables read and delete.
type Store interface {
	// Estimate returns the fields of an estimate; fault.NotFound when there is none.
	Estimate(ctx context.Context, id string) (map[string]any, error)

	// Items returns every document of a sub-collection, by id.
	Items(ctx context.Context, estimate, collection string) ([]json.RawMessage, error)

	// Delete removes the estimate with everything that was made for it.
	Delete(ctx context.Context, id string) error
}

// Ports are opened at the first call.
type Ports struct {
	Runner func() (*runner.Runner, error)
	Store  func() (Store, error)
}

// Callables returns start_deep_pipeline, get_pipeline_status, cancel_pipeline
// and delete_estimate.
func Callables(p Ports) []callable.Func {
	return []callable.Func{
		{Name: "start_deep_pipeline", Handle: p.start},
		{Name: "get_pipeline_status", Handle: p.status},
		{Name: "cancel_pipeline", Handle: p.cancel},
		{Name: "delete_estimate", Handle: p.delete},
	}
}

// answer is the published envelope of success.
type answer struct {
	Success bool `json:"success"`
	Data    any  `json:"data"`
}

func success(data any) (any, error) { return answer{true, data}, nil }

// problem is the details of an error.
type problem struct {
	Code     string `json:"code"`
	Field    string `json:"field,omitempty"`
	Errors   any    `json:"errors,omitempty"`
	Warnings any    `json:"warnings,omitempty"`
}

func invalid(code, field, message string) error {
	e := fault.New(fault.Invalid, "%s", message)
	e.Details = problem{Code: code, Field: field}
	return e
}

func notFound(id string) error {
	e := fault.New(fault.NotFound, "there is no estimate %s", id)
	e.Details = problem{Code: "ESTIMATE_NOT_FOUND"}
	return e
}

// request holds what the callables take. Both generations of names are read.
type request struct {
	EstimateID         string          `json:"estimateId"`
	EstimateIDSnake    string          `json:"estimate_id"`
	Clarification      json.RawMessage `json:"clarificationOutput"`
	ClarificationSnake json.RawMessage `json:"clarification_output"`
	UserID             string          `json:"userId"`
	ProjectID          string          `json:"projectId"`
}

// reserved ids belong to Firestore.
var reserved = regexp.MustCompile(`^__.*__$`)

var estimateID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// decode reads the data of a call and says who asks.
func decode(call callable.Call) (request, string, error) {
	var r request
	if !bytes.HasPrefix(bytes.TrimSpace(call.Data), []byte("{")) {
		return r, "", invalid("INVALID_FIELD", "data", "data: wanted an object")
	}
	if err := json.Unmarshal(call.Data, &r); err != nil {
		e := fault.Wrap(fault.Invalid, err, "data: estimateId, userId and projectId are strings, clarificationOutput is an object")
		e.Details = problem{Code: "INVALID_FIELD", Field: "data"}
		return r, "", e
	}
	if r.EstimateID == "" {
		r.EstimateID = r.EstimateIDSnake
	}
	if r.Clarification == nil {
		r.Clarification = r.ClarificationSnake
	}
	user := call.User
	switch {
	case user == "" && r.UserID != "":
		user = r.UserID // anonymous callers exist on the local system alone
	case user == "":
		user = anonymous
	case r.UserID != "" && r.UserID != user:
		return r, "", fault.New(fault.Denied, "userId is not the user who is signed in")
	}
	return r, user, nil
}

func (r *request) needID() error {
	if r.EstimateID == "" {
		return invalid("MISSING_FIELD", "estimateId", "estimateId: wanted the id of an estimate")
	}
	if !estimateID.MatchString(r.EstimateID) || reserved.MatchString(r.EstimateID) {
		return invalid("INVALID_FIELD", "estimateId", "estimateId: wanted 1 to 128 letters, digits, _ or -, not __like_this__")
	}
	return nil
}

// owned returns an estimate that belongs to user; to others it does not exist.
func (p Ports) owned(ctx context.Context, id, user string) (Store, map[string]any, error) {
	store, err := p.Store()
	if err != nil {
		return nil, nil, err
	}
	doc, err := store.Estimate(ctx, id)
	if fault.KindOf(err) == fault.NotFound || err == nil && doc["userId"] != user {
		return nil, nil, notFound(id)
	}
	return store, doc, err
}
