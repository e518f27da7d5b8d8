package final

import (
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
)

type (
	criterion = agent.Criterion[estimate.Context, estimate.Final]
	output    = estimate.Final
)

// rubric judges a conclusion. A second total, or a figure that no agent
// computed, is a gate.
func rubric() agent.Rubric[estimate.Context, estimate.Final] {
	return agent.Rubric[estimate.Context, estimate.Final]{
		criterion{Name: "cost_breakdown_valid", Weight: 15, Check: addsUp},
		criterion{Name: "agrees_with_outputs", Weight: 15, Check: agrees},
		criterion{Name: "words_equal_figures", Weight: 12, Check: words},
		criterion{Name: "executive_summary_complete", Weight: 9, Check: executive},
		criterion{Name: "class_and_validity", Weight: 8, Check: class},
		criterion{Name: "timeline_included", Weight: 8, Check: timeline},
		criterion{Name: "exclusions_and_allowances", Weight: 8, Check: exclusions},
		criterion{Name: "risk_included", Weight: 6, Check: risks},
		criterion{Name: "sources_and_assumptions", Weight: 6, Check: sources},
		criterion{Name: "warnings_carried_forward", Weight: 6, Check: warnings},
		criterion{Name: "recommendations_present", Weight: 4, Check: recommendations},
		criterion{Name: "cost_items_counted", Weight: 2, Check: items},
		criterion{Name: "belongs_to_estimate", Weight: 1, Check: belongs},
	}
}

func belongs(in estimate.Context, f *output) agent.Grade { return agent.Belongs(in, f.EstimateID) }

// levels of risk, as the analysis publishes them.
var levels = []string{"Low", "Medium", "High"}

// wrong is a finding about a figure that the primary can compute again.
func wrong(path, issue, why string, observed, expected any) agent.Finding {
	return agent.Finding{
		Path: path, Observed: fmt.Sprint(observed), Expected: fmt.Sprint(expected), Issue: issue, Why: why,
		HowToFix: "Take " + path + " from the outputs of the agents before.", Fix: agent.Recompute,
	}
}

func gateIf(found []agent.Finding) agent.Grade {
	if len(found) > 0 {
		return agent.Gate(found...)
	}
	return agent.Full()
}

// broken turns breaches of an identity into findings.
func broken(breaches []estimate.Breach) []agent.Finding {
	var found []agent.Finding
	for _, b := range breaches {
		found = append(found, wrong(b.Path, b.Issue, "An estimate has one total, and everything adds up to it ("+b.Rule+").", b.Observed, b.Expected))
	}
	return found
}

func addsUp(_ estimate.Context, f *output) agent.Grade {
	if f.Breakdown.Total == 0 && f.Executive.TotalCost == 0 {
		return agent.Missing(wrong("executiveSummary.totalCost", "There is no total.", "The total is what an estimate is for.", 0, "the price"))
	}
	found := broken(f.CheckTotals())
	// Without an analysis of risk the contingency is a percentage.
	analysed := slices.Contains(levels, f.Risk.Level) && !f.Breakdown.ContingencyFixed && f.Executive.Range.P80 > 0
	if want := max(f.Executive.Range.P80, f.Executive.BaseCost); analysed && f.Executive.TotalCost != want {
		found = append(found, wrong("executiveSummary.totalCost", "The total is not P80, although nobody fixed the contingency.", "An estimate has one total (R5).", f.Executive.TotalCost, want))
	}
	if f.Breakdown.Total <= 0 || f.Executive.BaseCost <= 0 {
		found = append(found, wrong("executiveSummary.totalCost", "The total is not a price.", "Work costs something.", f.Executive.TotalCost, "more than zero"))
	}
	return gateIf(found)
}

func agrees(in estimate.Context, f *output) agent.Grade {
	found := broken(f.CheckAgreement(in))
	if r := in.Risk; r != nil && f.Executive.Range.P10 != r.MonteCarlo.P10 {
		found = append(found, wrong("executiveSummary.confidenceRange.p10", "P10 is not that of the risk analysis.", "There is one distribution (R5).", f.Executive.Range.P10, r.MonteCarlo.P10))
	}
	return gateIf(append(found, anotherJob(in, f)...))
}

// anotherJob finds where the first page describes another job than the scope:
// its size, its finish, its state.
func anotherJob(in estimate.Context, f *output) []agent.Finding {
	e := &f.Executive
	const why = "The price is that of the job it names."
	var found []agent.Finding
	if l := in.Location; l != nil && l.State != "" && !strings.Contains(e.Location, l.State) {
		found = append(found, wrong("executiveSummary.location", "The state is not that of the prices.", why, e.Location, l.State))
	}
	if in.Scope == nil {
		return found
	}
	if sqft := in.Scope.Sqft; sqft > 0 && e.Sqft != sqft {
		found = append(found, wrong("executiveSummary.sizeSqft", "The size is not that of the scope.", why, e.Sqft, sqft))
	}
	if finish := in.Scope.Finish; finish != "" && e.Finish != finish {
		found = append(found, wrong("executiveSummary.finishLevel", "The finish is not that of the scope.", why, e.Finish, finish))
	}
	return found
}

func executive(in estimate.Context, f *output) agent.Grade {
	e := &f.Executive
	var found []agent.Finding
	need := func(ok bool, path, issue string, observed any, expected string) {
		if !ok {
			found = append(found, wrong("executiveSummary."+path, issue, "It is the first and often the only page that is read.", observed, expected))
		}
	}
	need(e.ProjectType != "" || in.Clarification == nil && in.Scope == nil, "projectType", "The kind of project is missing.", e.ProjectType, "the kind of project")
	need(e.Location != "" || in.Clarification == nil && in.Location == nil, "location", "The place is missing.", e.Location, "city and state")
	need(e.Duration != "", "duration", "The duration is missing.", e.Duration, "weeks, or that it is not available")
	need(slices.Contains([]string{"high", "medium", "low"}, e.Confidence), "confidence", "The confidence is not stated.", e.Confidence, "high, medium or low")
	need(e.Range.P50 > 0 && e.Range.P90 > 0, "confidenceRange", "The range is missing.", e.Range, "P10 to P90")
	if c := in.Clarification; c != nil && e.ProjectType != c.Brief.ProjectType {
		need(false, "projectType", "The kind of project is another one.", e.ProjectType, c.Brief.ProjectType)
	}
	if c := in.Clarification; c != nil && !strings.Contains(e.Location, c.Brief.Location.City) {
		need(false, "location", "The place is another one.", e.Location, c.Brief.Location.City)
	}
	if e.Weeks > 0 && !strings.Contains(e.Duration, fmt.Sprintf("%.1f", e.Weeks)) {
		need(false, "duration", "The words state another duration than the figures.", e.Duration, fmt.Sprintf("%.1f weeks", e.Weeks))
	}
	return gateIf(found)
}

func class(in estimate.Context, f *output) agent.Grade {
	e := &f.Executive
	var found []agent.Finding
	const why = "A price without its accuracy is false precision."
	other := in.Scope != nil && in.Scope.Class > 0 && e.Class != in.Scope.Class
	if e.Class < 1 || e.Class > 5 {
		found = append(found, wrong("executiveSummary.estimateClass", "The class of the estimate is not stated.", why, e.Class, "1 to 5"))
	} else if other {
		found = append(found, wrong("executiveSummary.estimateClass", "The class is not that of the scope.", why, e.Class, in.Scope.Class))
	}
	if e.ClassReason == "" {
		found = append(found, wrong("executiveSummary.estimateClassReason", "The class has no reason.", why, "none", "why the input supports it"))
	}
	if e.ValidDays <= 0 || e.ValidDays > 90 {
		found = append(found, wrong("executiveSummary.validityDays", "The validity of the price is not stated.", "Prices move.", e.ValidDays, 30))
	}
	if f.Confidence <= 0 || f.Confidence > 1 {
		found = append(found, wrong("confidence", "The confidence is not a share.", why, f.Confidence, "0 to 1"))
	}
	return gateIf(found)
}

// timeline holds the dates against the schedule (F11), and the first page
// against the dates.
func timeline(in estimate.Context, f *output) agent.Grade {
	t, e, s := &f.Timeline, &f.Executive, in.Timeline
	var found []agent.Finding
	once := func(path string, ok bool, got, want any) {
		if !ok {
			found = append(found, wrong(path, "The estimate has two sets of dates.", "Dates are promises.", got, want))
		}
	}
	once("executiveSummary.startDate", e.Start.Equal(t.Start.Time), e.Start, t.Start)
	once("executiveSummary.endDate", e.End.Equal(t.End.Time), e.End, t.End)
	once("executiveSummary.durationWeeks", e.Weeks == t.TotalWeeks, e.Weeks, t.TotalWeeks)
	once("timeline.endDate", !t.End.Before(t.Start.Time), t.End, "not before "+t.Start.String())
	if s == nil {
		return gateIf(found)
	}
	same := func(path string, ok bool, got, want any) {
		if !ok {
			found = append(found, wrong(path, "The schedule says something else.", "Dates are promises.", got, want))
		}
	}
	same("timeline.totalDays", t.TotalDays == s.Duration, t.TotalDays, s.Duration)
	same("timeline.totalWeeks", t.TotalWeeks == s.Weeks, t.TotalWeeks, s.Weeks)
	same("timeline.startDate", t.Start.Equal(s.Start.Time), t.Start, s.Start)
	same("timeline.endDate", t.End.Equal(s.End.Time), t.End, s.End)
	same("executiveSummary.startDate", e.Start.Equal(s.Start.Time), e.Start, s.Start)
	same("executiveSummary.endDate", e.End.Equal(s.End.Time), e.End, s.End)
	same("executiveSummary.durationWeeks", e.Weeks == s.Weeks, e.Weeks, s.Weeks)
	same("timeline.milestones", len(t.Milestones) == len(s.Milestones), len(t.Milestones), len(s.Milestones))
	return gateIf(found)
}

// exclusions looks for the lists, and that every exclusion of the brief is in
// them (R8, F4).
func exclusions(in estimate.Context, f *output) agent.Grade {
	var found []agent.Finding
	if len(f.Exclusions) == 0 {
		found = append(found, wrong("exclusions", "The list of exclusions is empty.", "What is not listed is fought over.", "none", "what is not in the price, or that nothing is excluded"))
	}
	if len(f.Allowances) == 0 {
		found = append(found, wrong("allowances", "The list of allowances is empty.", "An allowance is a price that will change.", "none", "the allowances, or that there are none"))
	}
	if in.Clarification != nil {
		for _, e := range in.Clarification.Brief.Exclusions {
			if !slices.Contains(f.Exclusions, e) {
				found = append(found, wrong("exclusions", "An exclusion of the brief is not printed.", "Exclusions bind the estimate.", "without "+e, e))
			}
		}
	}
	return gateIf(found)
}
