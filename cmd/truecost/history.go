package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// runDetail is a run as get_run shows it, as far as it is printed.
type runDetail struct {
	runSummary
	Open        []runOpen     `json:"open"`
	Questions   []runQuestion `json:"questions"`
	History     []runEntry    `json:"history"`
	HistoryNext *string       `json:"historyNext"`
	Totals      struct {
		Steps     int     `json:"steps"`
		Tries     int     `json:"tries"`
		Takeovers int     `json:"takeovers"`
		Late      int     `json:"late"`
		Failed    int     `json:"failed"`
		Tokens    int     `json:"tokens"`
		CostUSD   float64 `json:"costUsd"`
		AgentMS   int64   `json:"agentMs"`
	} `json:"totals"`
}

type runOpen struct {
	Step      string     `json:"step"`
	Agent     string     `json:"agent"`
	AgeMS     int64      `json:"ageMs"`
	NotBefore *time.Time `json:"notBefore"`
	Tries     int        `json:"tries"`
}

type runQuestion struct {
	InputID    string          `json:"inputId"`
	Node       string          `json:"node"`
	Kind       string          `json:"kind"`
	Open       bool            `json:"open"`
	Prompt     string          `json:"prompt"`
	Schema     json.RawMessage `json:"schema"`
	ExpiresAt  time.Time       `json:"expiresAt"`
	Decision   string          `json:"decision"`
	AnsweredBy string          `json:"answeredBy"`
	AnsweredAt *time.Time      `json:"answeredAt"`
}

type runEntry struct {
	Step       string    `json:"step"`
	Agent      string    `json:"agent"`
	Status     string    `json:"status"`
	Tries      int       `json:"tries"`
	Score      *int      `json:"score"`
	DurationMS int64     `json:"durationMs"`
	Tokens     int       `json:"tokens"`
	CostUSD    float64   `json:"costUsd"`
	RevAt      *int      `json:"revAt"`
	Late       bool      `json:"late"`
	Error      *runError `json:"error"`
	Chunks     *struct {
		Claimed int `json:"claimed"`
		Done    int `json:"done"`
		Failed  int `json:"failed"`
	} `json:"chunks"`
}

// runRun prints one run with its history.
func runRun(ctx context.Context, c *call) error {
	s, err := c.connect(ctx, false)
	if err != nil {
		return err
	}
	defer s.stop()
	fields, d, err := c.detail(ctx, s)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(fields)
	}
	return c.writeRun(d)
}

// maxPages bounds how long a history is followed.
const maxPages = 100

// detail fetches a run with the whole of its history: all its fields as they
// stand, and what is printed of them.
func (c *call) detail(ctx context.Context, s *service) (map[string]json.RawMessage, *runDetail, error) {
	var fields map[string]json.RawMessage
	history := []json.RawMessage{}
	data := c.subject()
	for range maxPages {
		var page map[string]json.RawMessage
		if err := c.ask(ctx, s, "get_run", maps.Clone(data), &page); err != nil {
			return nil, nil, err
		}
		if fields == nil {
			fields = page
		}
		var more struct {
			History []json.RawMessage
			Next    *string
			RunID   string
		}
		for name, into := range map[string]any{"history": &more.History, "historyNext": &more.Next, "runId": &more.RunID} {
			if err := json.Unmarshal(page[name], into); err != nil {
				return nil, nil, fmt.Errorf("read %s of a run: %w", name, err)
			}
		}
		history = append(history, more.History...)
		if more.Next == nil {
			break
		}
		data = map[string]any{"runId": more.RunID, "after": *more.Next}
	}
	delete(fields, "historyNext")
	var err error
	if fields["history"], err = json.Marshal(history); err != nil {
		return nil, nil, fmt.Errorf("join the history: %w", err)
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, nil, fmt.Errorf("join the run: %w", err)
	}
	d := &runDetail{}
	if err := json.Unmarshal(raw, d); err != nil {
		return nil, nil, fmt.Errorf("read the run: %w", err)
	}
	return fields, d, nil
}

// writeRun prints a run: what it is, how it went, what is open, what is asked,
// and what it took.
func (c *call) writeRun(d *runDetail) error {
	c.writeHead(d)
	if len(d.History) > 0 {
		_, _ = fmt.Fprintln(c.stdout)
		t := c.table("REV", "STEP", "AGENT", "STATUS", "TRIES", "SCORE", "DURATION", "TOKENS", "COST", "NOTE")
		for i := range d.History {
			e := &d.History[i]
			t.row(number(e.RevAt), plain(e.Step), plain(text(&e.Agent)), t.status(e.Status), fmt.Sprint(e.Tries), number(e.Score),
				span(e.DurationMS), count(e.Tokens), usd(e.CostUSD), e.note())
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	if err := c.writeOpen(d.Open); err != nil {
		return err
	}
	c.writeQuestions(d)
	o := d.Totals
	_, err := fmt.Fprintf(c.stdout, "\n%s, %s, %s, %s late, agents at work %s, %s tokens, %s\n", plural(o.Steps, "step"), plural(o.Tries, "try"),
		plural(o.Takeovers, "takeover"), fmt.Sprint(o.Late), span(o.AgentMS), fmt.Sprint(o.Tokens), fmt.Sprintf("$%.4f", o.CostUSD))
	return err
}

func (c *call) writeHead(d *runDetail) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(c.stdout, format+"\n", args...) } // the last write tells
	line("%s · %s · %s · %d%%", d.RunID, d.Status, plain(d.FlowID), d.Progress)
	line("  started %s, %s", clock(d.StartedAt), span(d.DurationMS))
	if d.Parent != nil {
		line("  tries %s again", *d.Parent)
	}
	if d.Hold != nil {
		line("  %s", heldText(d.Hold, d.RunID))
	}
	if d.Error != nil {
		line("  %s [%s]", plain(d.Error.Message), plain(d.Error.Code))
	}
}

// note is what is unusual about a step.
func (e *runEntry) note() string {
	var note string
	if e.Chunks != nil {
		note = plural(e.Chunks.Done+e.Chunks.Failed+e.Chunks.Claimed, "chunk")
		if e.Chunks.Failed > 0 {
			note += fmt.Sprintf(", %d failed", e.Chunks.Failed)
		}
		if e.Chunks.Claimed > 0 {
			note += fmt.Sprintf(", %d at work", e.Chunks.Claimed)
		}
	}
	if e.Late {
		note = joined(note, "late")
	}
	if e.Error != nil {
		note = joined(note, plain(e.Error.Message)+" ["+plain(e.Error.Code)+"]")
	}
	return note
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func (c *call) writeOpen(open []runOpen) error {
	if len(open) == 0 {
		return nil
	}
	_, _ = fmt.Fprintln(c.stdout)
	t := c.table("OPEN", "AGENT", "AGE", "TRIES", "NOT BEFORE")
	for _, o := range open {
		not := "-"
		if o.NotBefore != nil {
			not = clock(*o.NotBefore)
		}
		t.row(plain(o.Step), plain(text(&o.Agent)), span(o.AgeMS), fmt.Sprint(o.Tries), not)
	}
	return t.flush()
}

func (c *call) writeQuestions(d *runDetail) {
	ordered := slices.Clone(d.Questions)
	slices.SortStableFunc(ordered, func(a, b runQuestion) int { return first(a.Open) - first(b.Open) })
	for _, q := range ordered {
		_, _ = fmt.Fprintf(c.stdout, "\n%s asks (%s): %s\n", q.Node, q.InputID, plain(q.Prompt))
		switch {
		case q.Open:
			if len(q.Schema) > 0 && string(q.Schema) != "null" {
				_, _ = fmt.Fprintf(c.stdout, "  schema   %s\n", plain(string(q.Schema)))
			}
			_, _ = fmt.Fprintf(c.stdout, "  expires  %s\n  answer   %s\n", clock(q.ExpiresAt), answerCommand(d.RunID, q.InputID, q.Kind))
		case q.Decision == "":
			_, _ = fmt.Fprintln(c.stdout, "  was never answered")
		default:
			_, _ = fmt.Fprintf(c.stdout, "  %s by %s at %s\n", decided(q.Decision), plain(q.AnsweredBy), clock(orZero(q.AnsweredAt)))
		}
	}
}

// decided says what a person did with a question.
func decided(decision string) string {
	switch decision {
	case "answer":
		return "answered"
	case "accept":
		return "accepted"
	case "give_up":
		return "given up"
	default:
		return plain(decision)
	}
}

// first puts what is true in front.
func first(yes bool) int {
	if yes {
		return 0
	}
	return 1
}

func orZero(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}

func count(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// plural counts things.
func plural(n int, one string) string {
	switch {
	case n == 1:
		return "1 " + one
	case one == "try":
		return fmt.Sprintf("%d tries", n)
	default:
		return fmt.Sprintf("%d %ss", n, one)
	}
}
