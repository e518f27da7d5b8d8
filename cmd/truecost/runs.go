package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// runStatuses are what runs can be listed by.
var runStatuses = []string{"running", "waiting_input", "completed", "failed", "canceled"}

func runsFlags(fs *flag.FlagSet, o *options) {
	fs.StringVar(&o.status, "status", "", "only runs of this `status`: "+strings.Join(runStatuses, ", "))
	fs.IntVar(&o.limit, "n", 20, "at most `count` runs; 0 is all")
}

func checkRuns(c *call) error {
	if c.status != "" && !slices.Contains(runStatuses, c.status) {
		return fmt.Errorf("-status: %q is not one of %s", c.status, strings.Join(runStatuses, ", "))
	}
	return nil
}

// runSummary is a run as list_runs and get_run show it.
type runSummary struct {
	RunID        string     `json:"runId"`
	EstimateID   string     `json:"estimateId"`
	FlowID       string     `json:"flowId"`
	Status       string     `json:"status"`
	Progress     int        `json:"progress"`
	CurrentAgent *string    `json:"currentAgent"`
	Score        *int       `json:"score"`
	StartedAt    time.Time  `json:"startedAt"`
	DurationMS   int64      `json:"durationMs"`
	Parent       *string    `json:"parent"`
	Hold         *hold      `json:"hold"`
	Error        *runError  `json:"error"`
	EndedAt      *time.Time `json:"endedAt"`
}

// hold says who holds a run, and why.
type hold struct {
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// runError is why a run or a step failed.
type runError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Agent   string `json:"agent"`
}

// callPage is how many runs are asked for at once.
const callPage = 100

// runRuns lists the user's runs, the latest first.
func runRuns(ctx context.Context, c *call) error {
	s, err := c.connect(ctx, false)
	if err != nil {
		return err
	}
	defer s.stop()
	list, err := c.runs(ctx, s)
	if err != nil {
		return fmt.Errorf("list the runs: %w", err)
	}
	if c.json {
		return c.printJSON(list)
	}
	if len(list) == 0 {
		_, _ = fmt.Fprintf(c.stderr, "no runs of user %s\n", c.owner())
		return nil
	}
	t := c.table("RUN", "STATUS", "FLOW", "STARTED", "DURATION", "PROGRESS", "SCORE", "AGENT")
	for _, r := range list {
		t.row(r.RunID, t.status(r.Status), plain(r.FlowID), clock(r.StartedAt), span(r.DurationMS),
			fmt.Sprintf("%d%%", r.Progress), number(r.Score), plain(text(r.CurrentAgent)))
	}
	return t.flush()
}

// runs fetches as many runs as were asked for, page by page.
func (c *call) runs(ctx context.Context, s *service) ([]runSummary, error) {
	list := []runSummary{}
	for after := ""; ; {
		data := map[string]any{"limit": callPage}
		if c.limit > 0 {
			data["limit"] = min(callPage, c.limit-len(list))
		}
		if c.status != "" {
			data["status"] = c.status
		}
		if after != "" {
			data["after"] = after
		}
		var page struct {
			Runs []runSummary `json:"runs"`
			Next *string      `json:"next"`
		}
		if err := c.ask(ctx, s, "list_runs", data, &page); err != nil {
			return nil, err
		}
		list = append(list, page.Runs...)
		if page.Next == nil || len(page.Runs) == 0 || c.limit > 0 && len(list) >= c.limit {
			return list, nil
		}
		after = *page.Next
	}
}
