package agent

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRevisions(t *testing.T) {
	t.Parallel()
	previous := json.RawMessage(`{"total":{"low":1},"lines":[{"hours":2},{"hours":4}],"same":7}`)
	now := json.RawMessage(`{"total":{"low":5},"lines":[{"hours":2},{"hours":3}],"same":7}`)
	tests := []struct {
		finding Finding
		want    string
	}{
		{Finding{Path: "total.low", Fix: Recompute}, "was 1, is 5"},
		{Finding{Path: "lines[1].hours", Fix: Recompute}, "was 4, is 3"},
		{Finding{Path: "same", Fix: Recompute}, "same result: 7"},
		{Finding{Path: "lines[9].hours", Fix: Recompute}, "no longer"},
		{Finding{Path: "lines[0].hours", Fix: AskUser, HowToFix: "Measure."}, "Measure."},
	}
	for _, tt := range tests {
		got := Revisions(&Critique{Findings: []Finding{tt.finding}, PreviousOutput: previous}, now)
		if len(got) != 1 || got[0].Path != tt.finding.Path || !strings.Contains(got[0].Action, tt.want) {
			t.Errorf("Revisions(%s) = %v, want an action with %q", tt.finding.Path, got, tt.want)
		}
	}
	if got := Revisions(nil, now); got != nil {
		t.Errorf("Revisions(nil) = %v, want none", got)
	}
}
