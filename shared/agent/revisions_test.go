package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"truecost.dev/shared/estimate"
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

func TestTellSaysWhatChanged(t *testing.T) {
	t.Parallel()
	feedback := &Critique{
		PreviousOutput: json.RawMessage(`{"a":{"b":[1,2]},"same":5}`),
		Findings:       []Finding{{Path: "a.b[1]"}, {Path: "same"}, {Path: "nowhere"}},
	}
	done := []estimate.Revision{{Action: "computed again."}, {Action: "computed again."}, {Action: "computed again."}}
	got := Tell(feedback, json.RawMessage(`{"a":{"b":[1,3]},"same":5}`), done)
	for i, want := range []string{"computed again: was 2, is 3", "computed again.", "computed again."} {
		if got[i].Action != want {
			t.Errorf("Tell(%s) = %q, want %q", feedback.Findings[i].Path, got[i].Action, want)
		}
	}
}
