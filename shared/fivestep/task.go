package fivestep

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"

	"truecost.dev/shared/fault"
)

// Task is a task as its specialist tells it, in a frame or as a record.
type Task struct {
	ID            string          `json:"task_id"`
	Status        string          `json:"status"`
	StatusMessage string          `json:"status_message"`
	Progress      int             `json:"progress_percent"`
	Artefacts     json.RawMessage `json:"artefacts,omitempty"` // usually a list of {name, data|text|url}; some specialists send an object
	ErrorMessage  string          `json:"error_message,omitempty"`
}

// Ended reports whether the task will not change any more.
func (t Task) Ended() bool {
	switch t.Status {
	case "completed", "failed", "cancelled", "canceled":
		return true
	}
	return false
}

// known reports whether the status is one that the protocol has.
func (t Task) known() bool { return t.Ended() || t.Status == "submitted" || t.Status == "working" }

// Submit begins a task and returns it. A submission whose answer was lost is sent
// again, with the same key, by which the specialist knows it. It returns fault.Invalid, with the specialist's words, for an
// input that is not taken, and fault.Unknown where a login is needed and there is
// none.
func (s *Specialist) Submit(ctx context.Context, skill string, input json.RawMessage) (Task, error) {
	var t Task
	if s.Capabilities.AuthRequired && s.session.get() == "" {
		if !s.logsIn() {
			return t, fault.New(fault.Unknown, "%s wants callers to say who they are, and there is no token and no client to log in as", s.submit)
		}
		if err := s.logIn(ctx); err != nil {
			return t, err
		}
	}
	requester := s.client.ID
	if requester == "" {
		requester = "truecost"
	}
	body, err := json.Marshal(struct {
		Requester string          `json:"requesting_agent_id"`
		Skill     string          `json:"skill_id"`
		Input     json.RawMessage `json:"input_data"`
	}{requester, skill, input})
	if err != nil {
		return t, fault.Wrap(fault.Invalid, err, "the input is not JSON")
	}
	answer, err := s.retry(ctx, ask{method: http.MethodPost, address: s.submit, body: body, key: rand.Text()})
	if err != nil {
		return t, err
	}
	return s.task(answer, "")
}

// Status returns a task as it is now; fault.Conflict where the specialist has no
// such endpoint.
func (s *Specialist) Status(ctx context.Context, id string) (Task, error) {
	return s.about(ctx, http.MethodGet, s.status, id)
}

// Cancel ends a task. It returns fault.Conflict when the task had ended, and where
// the specialist has no such endpoint.
func (s *Specialist) Cancel(ctx context.Context, id string) (Task, error) {
	return s.about(ctx, http.MethodPost, s.cancel, id)
}

var errNotOffered = errors.New("the card has no such endpoint")

func (s *Specialist) about(ctx context.Context, method, address, id string) (Task, error) {
	if address == "" {
		return Task{}, fault.Wrap(fault.Conflict, errNotOffered, "the specialist does not offer that")
	}
	answer, err := s.retry(ctx, ask{method: method, address: of(address, id)})
	if err != nil {
		return Task{}, err
	}
	return s.task(answer, id)
}

// idPattern is what ids of tasks look like.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_.~-]{1,128}$`)

// task reads a task: that of an id, unless it is empty.
func (s *Specialist) task(answer []byte, id string) (Task, error) {
	var t Task
	if err := json.Unmarshal(answer, &t); err != nil {
		return t, fault.Wrap(fault.Invalid, err, "the specialist does not answer with a task")
	}
	if !idPattern.MatchString(t.ID) || id != "" && t.ID != id || !t.known() {
		return t, fault.New(fault.Invalid, "the specialist answers with the task %q, which is %q", cut(t.ID), cut(t.Status))
	}
	return t, nil
}
