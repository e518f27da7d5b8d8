package location

import (
	"fmt"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/locality"
)

// analysed checks that the prose is there and speaks of this place's figures.
func analysed(_ estimate.Context, out *output) agent.Grade {
	const why = "A reader must see why the place costs what it costs."
	var off []agent.Finding
	if n := len(strings.Fields(out.Analysis)); n < 50 {
		off = append(off, wrong("analysis", "The analysis is too short.", why, fmt.Sprint(n, " words"), "50 words"))
	} else if !strings.Contains(out.Analysis, fmt.Sprintf("%.3f", out.LocationFactor)) {
		return agent.Gate(wrong("analysis", "The analysis does not speak of the factor of this output.", "Prose that contradicts the figures misleads.", "another figure", fmt.Sprintf("%.3f", out.LocationFactor)))
	}
	if len(out.KeyFindings) < 3 {
		off = append(off, wrong("keyFindings", "There are fewer than three findings.", why, len(out.KeyFindings), 3))
	}
	if len(out.Recommendations) < 2 {
		off = append(off, wrong("recommendations", "There are fewer than two recommendations.", why, len(out.Recommendations), 2))
	}
	if len(out.RiskFactors) == 0 {
		off = append(off, wrong("riskFactors", "No risk is named.", why, 0, 1))
	}
	return agent.Deduct(25, off)
}

// confident checks that confidence follows the level of the data.
func confident(_ estimate.Context, out *output) agent.Grade {
	limit := 0.95
	switch out.Level {
	case locality.LevelMetro:
		limit = 0.85
	case locality.LevelState:
		limit = 0.75
	case locality.LevelNational, "":
		limit = 0.55
	}
	if !within(out.Confidence, 0.2, limit) {
		return agent.Gate(wrong("confidence", "The confidence does not fit the level of the data.", "Ranges widen with doubt; false confidence narrows them.", out.Confidence, fmt.Sprintf("0.20 to %.2f at the level %q", limit, out.Level)))
	}
	return agent.Full()
}

// unionRight checks that union conditions are information that fits the share
// of members (L8: the wage index contains them).
func unionRight(_ estimate.Context, out *output) agent.Grade {
	want := "non_union"
	switch {
	case out.UnionShare >= 20:
		want = "union"
	case out.UnionShare >= 10:
		want = "mixed"
	}
	if out.UnionStatus != want || out.Union != (want == "union") || !within(out.UnionShare, 0, 60) {
		return agent.Gate(wrong("unionStatus", "The status does not fit the share of members.", "Readers take it for the labor market of the place.", fmt.Sprintf("%s at %.0f %%", out.UnionStatus, out.UnionShare), want))
	}
	return agent.Full()
}
