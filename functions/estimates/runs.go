package estimates

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// usualPage is how many runs a list has when nothing else is asked for.
const usualPage = 20

// statuses are what runs can be listed by.
var statuses = []engine.Status{engine.Running, engine.WaitingInput, engine.Completed, engine.Failed, engine.Canceled}

// summary is one run of a list.
type summary struct {
	RunID         string           `json:"runId"`
	EstimateID    string           `json:"estimateId"`
	N             int              `json:"n"`
	FlowID        string           `json:"flowId"`
	Status        engine.Status    `json:"status"`
	Progress      int              `json:"progress"`     // 0–100
	CurrentAgent  *string          `json:"currentAgent"` // at work, asking, or {agent}_failed
	Score         *int             `json:"score"`        // the last one in flow order
	OpenQuestions int              `json:"openQuestions"`
	Partial       bool             `json:"partial"`
	StartedAt     time.Time        `json:"startedAt"`
	UpdatedAt     time.Time        `json:"updatedAt"`
	EndedAt       *time.Time       `json:"endedAt"`
	DurationMS    int64            `json:"durationMs"` // until its end, or until now
	Parent        *string          `json:"parent"`     // the run that this one tries again
	Hold          *engine.ViewHold `json:"hold"`
	Error         *engine.Error    `json:"error"`
}

// listing is a request for runs.
type listing struct {
	subject
	Status engine.Status `json:"status"`
	FlowID string        `json:"flowId"`
	Since  string        `json:"since"` // RFC 3339
	Limit  *int          `json:"limit"` // 1 to 100
	After  string        `json:"after"` // a run: next of the page before
}

// listRuns lists the caller's runs, the latest first.
func (p Ports) listRuns(ctx context.Context, call callable.Call) (any, error) {
	var req listing
	user, err := decode(call, &req)
	if err != nil {
		return nil, err
	}
	q, err := req.query(user)
	if err != nil {
		return nil, err
	}
	if req.After != "" {
		// A place in the list is the caller's to ask for only when the run is.
		if _, err := p.run(ctx, subject{RunID: req.After}, user); err != nil {
			return nil, err
		}
	}
	runs, err := p.Runs()
	if err != nil {
		return nil, err
	}
	r, err := p.Runner()
	if err != nil {
		return nil, err
	}
	found, err := runs.Runs(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("list the runs of %s: %w", user, err)
	}
	var next *string
	if more := len(found) == q.Limit; more {
		found = found[:q.Limit-1]
		next = new(found[len(found)-1].RunID())
	}
	list := make([]summary, len(found))
	known := flows{from: runs}
	for i := range found {
		f, err := known.of(ctx, &found[i].State)
		if err != nil {
			return nil, err
		}
		list[i] = summarize(f, &found[i].State, r.Now())
	}
	return success(map[string]any{"runs": list, "next": next})
}

// query reads a request. It asks for one run more than is listed: whether there
// is one tells whether there is a next page.
func (l *listing) query(user string) (runner.RunQuery, error) {
	q := runner.RunQuery{Owner: user, Status: string(l.Status), FlowID: l.FlowID, After: l.After}
	if err := l.read(); err != nil {
		return q, err
	}
	q.EstimateID = l.EstimateID
	limit, err := page(l.Limit, usualPage)
	if err != nil {
		return q, err
	}
	q.Limit = limit + 1
	if l.Since != "" {
		if q.Since, err = time.Parse(time.RFC3339, l.Since); err != nil {
			return q, wanted("since", "a time, as 2026-01-31T08:00:00Z")
		}
	}
	switch {
	case l.Status != "" && !slices.Contains(statuses, l.Status):
		return q, wanted("status", "running, waiting_input, completed, failed or canceled")
	case l.FlowID != "" && !nodeName.MatchString(l.FlowID):
		return q, wanted("flowId", "the id of a flow, as truecost")
	case l.After != "" && !runID.MatchString(l.After):
		return q, wanted("after", "the id of a run, next of the page before")
	}
	return q, nil
}

// flows loads each flow of a call once.
type flows struct {
	from  Runs
	known map[string]*engine.Flow
}

// of returns the flow of a run. A run from before flows were stored is shown by
// its nodes, in the order of their names.
func (f *flows) of(ctx context.Context, s *engine.State) (*engine.Flow, error) {
	if flow := f.known[s.Flow]; flow != nil {
		return flow, nil
	}
	flow, err := f.from.Flow(ctx, s.Flow)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		flow = &engine.Flow{ID: s.FlowID}
		for _, name := range slices.Sorted(maps.Keys(s.Nodes)) {
			flow.Nodes = append(flow.Nodes, engine.Node{Name: name, Agent: name, Weight: 1})
		}
	case err != nil:
		return nil, fmt.Errorf("load the flow of %s: %w", s.RunID(), err)
	}
	if f.known == nil {
		f.known = map[string]*engine.Flow{}
	}
	f.known[s.Flow] = flow
	return flow, nil
}

func summarize(f *engine.Flow, s *engine.State, now time.Time) summary {
	view := engine.Project(f, *s)
	sum := summary{
		RunID: s.RunID(), EstimateID: s.EstimateID, N: s.N, FlowID: s.FlowID, Status: s.Status,
		Progress: view.Progress, CurrentAgent: view.CurrentAgent, OpenQuestions: len(view.Questions), Partial: view.Partial,
		StartedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, EndedAt: s.EndedAt, Hold: view.Hold, Error: s.Error,
	}
	if sum.CurrentAgent == nil && len(view.Questions) > 0 {
		sum.CurrentAgent = &view.Questions[0].Agent
	}
	for _, n := range f.Nodes {
		if scores := s.Nodes[n.Name].Scores; len(scores) > 0 {
			sum.Score = &scores[len(scores)-1]
		}
	}
	if s.Parent != "" {
		sum.Parent = &s.Parent
	}
	end := now
	if s.EndedAt != nil {
		end = *s.EndedAt
	}
	sum.DurationMS = max(end.Sub(s.CreatedAt), 0).Milliseconds()
	return sum
}
