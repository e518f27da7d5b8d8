package estimates

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// entry is one step of a history, or all the chunks of one attempt of a fan-out
// together.
type entry struct {
	Step       engine.StepID     `json:"step"` // of chunks: {node}.{attempt}.k
	Node       string            `json:"node"`
	Agent      string            `json:"agent"` // empty: the engine's own work
	Status     runner.StepStatus `json:"status"`
	Tries      int               `json:"tries"`     // claims of the step
	Takeovers  int               `json:"takeovers"` // of them, from a worker that was silent
	Beats      int               `json:"beats"`
	Score      *int              `json:"score"` // of a scorer
	StartedAt  time.Time         `json:"startedAt"`
	DoneAt     *time.Time        `json:"doneAt"`
	DurationMS int64             `json:"durationMs"`
	Tokens     int               `json:"tokens"`
	CostUSD    float64           `json:"costUsd"`
	RevAt      *int              `json:"revAt"` // rev of the run that it brought about
	Late       bool              `json:"late"`  // came when it was no longer needed
	Error      *engine.Error     `json:"error"` // of chunks: the first one's
	Chunks     *chunks           `json:"chunks"`

	order int // place among the entries
}

// chunks counts the calls of a fan-out.
type chunks struct {
	Claimed int `json:"claimed"` // at work
	Done    int `json:"done"`
	Failed  int `json:"failed"`
}

// totals sum up a history.
type totals struct {
	Steps     int     `json:"steps"`
	Tries     int     `json:"tries"`
	Takeovers int     `json:"takeovers"`
	Late      int     `json:"late"`
	Failed    int     `json:"failed"`
	Tokens    int     `json:"tokens"`
	CostUSD   float64 `json:"costUsd"`
	AgentMS   int64   `json:"agentMs"` // time of agents at work, added up
}

// history orders steps by the revisions they brought about; what brought none
// comes last. The chunks of a fan-out follow the step that cut them.
func history(steps []runner.Step) []entry {
	list := make([]entry, 0, len(steps))
	fans := map[engine.StepID]int{} // place of the entry of all chunks
	cut := map[engine.StepID]int{}  // rev of the step that cut them
	for i := range steps {
		s := &steps[i]
		ref, _ := s.ID.Ref()
		if ref.Role == engine.RoleExpand {
			cut[fanID(ref)] = s.RevAt
		}
		if ref.Role != engine.RoleChunk {
			list = append(list, single(s, ref))
			continue
		}
		id := fanID(ref)
		at, known := fans[id]
		if !known {
			at = len(list)
			fans[id] = at
			list = append(list, entry{Step: id, Node: ref.Node, Agent: s.Agent, StartedAt: s.StartedAt, Chunks: &chunks{}})
		}
		list[at].chunk(s)
	}
	for id, at := range fans {
		list[at].order = cut[id]
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		return cmp.Or(last(a.order)-last(b.order), a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.Step, b.Step))
	})
	return list
}

// fanID stands for all chunks of an attempt.
func fanID(r engine.StepRef) engine.StepID {
	return engine.StepID(r.Node + "." + strconv.Itoa(r.Attempt) + "." + string(engine.RoleChunk))
}

// last puts what has no place behind all that has.
func last(order int) int {
	if order == 0 {
		return math.MaxInt32
	}
	return order
}

func single(s *runner.Step, ref engine.StepRef) entry {
	e := entry{
		Step: s.ID, Node: ref.Node, Agent: s.Agent, Status: s.Status, Tries: s.Try, Takeovers: s.Takeovers, Beats: s.Beats,
		StartedAt: s.StartedAt, DoneAt: s.DoneAt, DurationMS: s.Duration.Milliseconds(),
		Tokens: s.Tokens, CostUSD: usd(s.CostUSD), Late: s.Late, Error: s.Failure, order: s.RevAt,
	}
	if s.RevAt > 0 {
		e.RevAt = &s.RevAt
	}
	if ref.Role == engine.RoleScorer && s.Status == runner.Done {
		e.Score = &s.Score
	}
	return e
}

// chunk adds a chunk to the entry of all.
func (e *entry) chunk(s *runner.Step) {
	switch s.Status {
	case runner.Claimed:
		e.Chunks.Claimed++
	case runner.StepFailed:
		e.Chunks.Failed++
	case runner.Done:
		e.Chunks.Done++
	}
	switch {
	case e.Chunks.Claimed > 0:
		e.Status = runner.Claimed
	case e.Chunks.Failed > 0:
		e.Status = runner.StepFailed
	default:
		e.Status = runner.Done
	}
	if e.Error == nil {
		e.Error = s.Failure
	}
	if s.StartedAt.Before(e.StartedAt) {
		e.StartedAt = s.StartedAt
	}
	if s.DoneAt != nil && (e.DoneAt == nil || s.DoneAt.After(*e.DoneAt)) {
		e.DoneAt = s.DoneAt
	}
	e.Tries += s.Try
	e.Takeovers += s.Takeovers
	e.Beats += s.Beats
	e.DurationMS += s.Duration.Milliseconds()
	e.Tokens += s.Tokens
	e.CostUSD = usd(e.CostUSD + s.CostUSD)
	e.Late = e.Late || s.Late
}

// add counts an entry.
func (t *totals) add(e *entry) {
	n, failed := 1, 0
	if e.Status == runner.StepFailed {
		failed = 1
	}
	if e.Chunks != nil {
		n, failed = e.Chunks.Claimed+e.Chunks.Done+e.Chunks.Failed, e.Chunks.Failed
	}
	t.Steps += n
	t.Failed += failed
	t.Tries += e.Tries
	t.Takeovers += e.Takeovers
	if e.Late {
		t.Late++
	}
	t.Tokens += e.Tokens
	t.CostUSD = usd(t.CostUSD + e.CostUSD)
	t.AgentMS += e.DurationMS
}

// usd rounds what was paid for models to millionths of a dollar: sums of
// floating numbers are not told to the last bit.
func usd(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// cut returns the entries of one page and where the next one begins.
func cut(list []entry, after engine.StepID, limit int) ([]entry, *string, error) {
	if after != "" {
		i := slices.IndexFunc(list, func(e entry) bool { return e.Step == after })
		if i < 0 {
			return nil, nil, wanted("after", "a step of the history, historyNext of the page before")
		}
		list = list[i+1:]
	}
	if len(list) <= limit {
		return list, nil, nil
	}
	return list[:limit], new(string(list[limit-1].Step)), nil
}
