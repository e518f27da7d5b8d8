package scope

import (
	"fmt"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
)

type (
	criterion = agent.Criterion[estimate.Context, estimate.Scope]
	output    = estimate.Scope
)

// rubric judges a bill of quantities. What makes the price wrong without anyone
// noticing is a gate: a lost line, a quantity that is not the one stated, work
// priced that is excluded, a code that does not exist, sums that do not add up.
func rubric() agent.Rubric[estimate.Context, estimate.Scope] {
	return agent.Rubric[estimate.Context, estimate.Scope]{
		criterion{Name: "division_status", Weight: 8, Check: statuses},
		criterion{Name: "lines_complete", Weight: 12, Check: linesComplete},
		criterion{Name: "excluded_work_unpriced", Weight: 10, Check: excludedUnpriced},
		criterion{Name: "quantity_completeness", Weight: 12, Check: quantities},
		criterion{Name: "unit_conversion", Weight: 8, Check: conversions},
		criterion{Name: "cost_code_coverage", Weight: 12, Check: coverage},
		criterion{Name: "catalogue_fidelity", Weight: 6, Check: fidelity},
		criterion{Name: "arithmetic", Weight: 8, Check: arithmetic},
		criterion{Name: "quantity_validation", Weight: 6, Check: validation},
		criterion{Name: "division_coverage", Weight: 6, Check: divisionCoverage},
		criterion{Name: "line_item_count", Weight: 3, Check: lineCount},
		criterion{Name: "duplicates", Weight: 2, Check: duplicates},
		criterion{Name: "estimate_reasonableness", Weight: 4, Check: reasonable},
		criterion{Name: "belongs_to_estimate", Weight: 1, Check: belongs},
		criterion{Name: "analysis_quality", Weight: 2, Check: analysed},
	}
}

func finding(fix agent.Fix, path, issue, why, how string, observed, expected any) agent.Finding {
	return agent.Finding{
		Path: path, Observed: fmt.Sprint(observed), Expected: fmt.Sprint(expected),
		Issue: issue, Why: why, HowToFix: how, Fix: fix,
	}
}

func wrong(path, issue, why string, observed, expected any) agent.Finding {
	return finding(agent.Recompute, path, issue, why, "Take the line off again from the input and the catalogue.", observed, expected)
}

func lookup(path, issue, why string, observed, expected any) agent.Finding {
	return finding(agent.Relookup, path, issue, why, "Match the line again, to another item.", observed, expected)
}

func ask(path, issue, why, how string, observed, expected any) agent.Finding {
	return finding(agent.AskUser, path, issue, why, how, observed, expected)
}

// gate makes any finding grave.
func gate(found []agent.Finding) agent.Grade {
	if len(found) > 0 {
		return agent.Gate(found...)
	}
	return agent.Full()
}

// within reports whether x lies in [low, high]; NaN does not.
func within(x, low, high float64) bool { return x >= low && x <= high }

func at(division, line int, member string) string {
	return fmt.Sprintf("divisions[%d].lineItems[%d].%s", division, line, member)
}

func belongs(in estimate.Context, s *output) agent.Grade { return agent.Belongs(in, s.EstimateID) }

// each calls do for every line, in order.
func each(s *output, do func(d, i int, l *estimate.ScopeLine)) {
	for d := range s.Divisions {
		for i := range s.Divisions[d].Items {
			do(d, i, &s.Divisions[d].Items[i])
		}
	}
}
