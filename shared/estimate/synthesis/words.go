package synthesis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// summary is the executive summary: one number, what it means, its class, the
// five largest groups, the three largest risks, the decision that is needed.
func (s subject) summary(f *estimate.Final) string {
	e, b := &f.Executive, &f.Breakdown
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }

	what := strings.ReplaceAll(e.ProjectType, "_", " ")
	if e.Sqft > 0 {
		what += fmt.Sprintf(" of %.0f sf", e.Sqft)
	}
	say("%s in %s: the estimate is %s.", capital(what), cmp.Or(e.Location, "a place that is not known"), e.TotalCost.Whole())
	switch {
	case b.ContingencyFixed:
		say("It is the base of %s and a contingency of %s, %.4g %% of the base, fixed by the user.", e.BaseCost.Whole(), e.Contingency.Whole(), e.ContingencyPct)
	case s.Risk != nil:
		say("It is the base of %s and a contingency of %s (%.1f %%): in four of five simulated cases the work costs no more.", e.BaseCost.Whole(), e.Contingency.Whole(), e.ContingencyPct)
	default:
		say("It holds no contingency: the risk analysis is not available.")
	}
	say("Half of the cases stay below %s (P50), nine of ten below %s (P90).", e.Range.P50.Whole(), e.Range.P90.Whole())
	low, high := accuracy(e.Class)
	say("Estimate class %d: %s An accuracy of %.0f to +%.0f %% is usual. The price holds for %d days.", e.Class, sentence(e.ClassReason), low, high, e.ValidDays)
	if groups := largest(s.Cost, 5); len(groups) > 0 {
		var names []string
		for _, d := range groups {
			names = append(names, fmt.Sprintf("%s %s", d.Name, d.Total.Low.Whole()))
		}
		say("The largest groups of direct cost: %s.", strings.Join(names, "; "))
	}
	if top := f.Risk.TopRisks; len(top) > 0 {
		say("The largest risks: %s.", strings.Join(top[:min(3, len(top))], "; "))
	}
	if s.Timeline != nil {
		say("The work takes %s, from %s to %s.", e.Duration, e.Start, e.End)
	}
	if f.NeedsReview {
		say("Before it is sent, someone must look at %d points, first: %s", len(f.ReviewReasons), sentence(f.ReviewReasons[0]))
	} else {
		say("Needed now: a decision on the scope and on the selections behind the allowances.")
	}
	return strings.Join(out, " ")
}

func capital(s string) string {
	if s == "" {
		return "The work"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// sentence ends s with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// largest returns the divisions that cost most, largest first.
func largest(c *estimate.Cost, n int) []estimate.CostDivision {
	var found []estimate.CostDivision
	for _, d := range c.Divisions {
		if d.Total.Low > 0 {
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b estimate.CostDivision) int { return cmp.Compare(b.Total.Low, a.Total.Low) })
	return found[:min(n, len(found))]
}

func (s subject) risk() estimate.RiskSummary {
	r := estimate.RiskSummary{Level: "not available", TopRisks: []string{}, Mitigations: []string{}}
	_, pct, fixed := s.contingency()
	switch {
	case fixed:
		r.Rationale = fmt.Sprintf("The user fixed the contingency at %.4g %% of the base.", pct)
	case s.Risk == nil:
		r.Rationale = "The risk analysis is not available; no contingency is held."
	default:
		r.Rationale = s.Risk.Contingency.Rationale
	}
	if s.Risk == nil {
		return r
	}
	r.Level = s.Risk.Level
	for _, item := range s.Risk.TopRisks {
		r.TopRisks = append(r.TopRisks, fmt.Sprintf("%s (%.0f %%, %s to %s)", item.Item, 100*item.Probability, item.CostLow.Whole(), item.CostHigh.Whole()))
		if item.Mitigation != "" {
			r.Mitigations = append(r.Mitigations, item.Item+": "+item.Mitigation)
		}
	}
	return r
}

func (s subject) assumptions() []string {
	out := append([]string{}, s.Cost.Summary.Assumptions...)
	class, reason := s.class()
	out = append(out, fmt.Sprintf("Estimate class %d: %s", class, sentence(reason)))
	if c := s.Clarification; c != nil {
		for _, flag := range c.Flags.LowConfidence {
			out = append(out, fmt.Sprintf("%s is uncertain (%.0f %%): %s", flag.Field, 100*flag.Confidence, sentence(flag.Reason)))
		}
		for _, missing := range c.Flags.MissingData {
			out = append(out, "Not known: "+sentence(missing))
		}
	}
	if s.Timeline != nil {
		out = append(out, s.Timeline.Assumptions...)
	}
	return unique(out)
}

// exclusions are the words of the brief and the divisions that are not priced.
func (s subject) exclusions() []string {
	var out []string
	if s.Clarification != nil {
		out = append(out, s.Clarification.Brief.Exclusions...)
	}
	if s.Scope != nil {
		out = append(out, s.Scope.Exclusions...)
		for _, d := range s.Scope.Divisions {
			switch d.Status {
			case estimate.Excluded:
				out = append(out, fmt.Sprintf("%s: not included%s", d.Name, because(d.Reason)))
			case estimate.ByOwner:
				out = append(out, d.Name+": by the owner")
			}
			for _, item := range d.OwnerItems {
				out = append(out, item+": not in the price")
			}
		}
	}
	if len(out) == 0 {
		out = []string{"Nothing is excluded by name; what is not listed is not in the price."}
	}
	return unique(out)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + strings.TrimSuffix(reason, ".") + ")"
}

func (s subject) allowances() []string {
	var out []string
	if s.Scope != nil {
		allowed := map[string]bool{}
		for _, d := range s.Scope.Divisions {
			for i := range d.Items {
				allowed[d.Items[i].ID] = d.Items[i].QuantitySource == "allowance"
			}
		}
		for _, l := range s.Cost.Lines {
			if allowed[l.ID] {
				out = append(out, fmt.Sprintf("%s: %s", l.Description, l.TotalCost.Low))
			}
		}
	}
	if len(out) == 0 {
		out = []string{"None: every line is priced by its quantity."}
	}
	return out
}

func (s subject) disclaimers() []string {
	return unique(append(slices.Clone(s.Cost.Summary.Disclaimers),
		fmt.Sprintf("The price holds for %d days from the date of this estimate.", ValidDays),
		"Building codes and permits are decided by the local authority."))
}

// sources lists where the figures come from, with their dates.
func (s subject) sources() []estimate.Provenance {
	out := []estimate.Provenance{{
		What: "unit prices, labor hours, markups", Source: "TrueCost catalogue " + catalog.Version,
		Date: s.Cost.PriceDate.String(), Level: "national",
	}}
	if s.Location != nil {
		out = append(out, s.Location.Provenance...)
	}
	if c := s.Clarification; c != nil {
		p := estimate.Provenance{What: "scope and quantities", Source: "the user's description and drawing (" + cmp.Or(c.CAD.Method, "no extraction") + ")"}
		if !c.Timestamp.IsZero() {
			p.Date = estimate.DateOf(c.Timestamp).String()
		}
		out = append(out, p)
	}
	if s.Risk != nil {
		out = append(out, estimate.Provenance{What: "percentiles and contingency", Source: fmt.Sprintf("simulation of %d iterations, seed %s", s.Risk.MonteCarlo.Iterations, s.Risk.MonteCarlo.Seed), Date: s.Cost.PriceDate.String()})
	}
	return out
}

// reasons carries forward why a person should look, from every output.
func (s subject) reasons() []string {
	var out []string
	from := func(agent string, warnings []string) {
		for _, w := range warnings {
			out = append(out, agent+": "+w)
		}
	}
	if c := s.Clarification; c != nil {
		if c.Status == "needs_review" {
			out = append(out, "scope: the clarification was handed over as needing review.")
		}
		if c.Flags.UserVerification {
			from("to verify", c.Flags.VerificationItems)
		}
	}
	if s.Location != nil {
		from("location", s.Location.Warnings)
	} else {
		out = append(out, "location: not available.")
	}
	if s.Scope != nil {
		from("scope", s.Scope.Completeness.Warnings)
	} else {
		out = append(out, "scope: not available.")
	}
	from("cost", s.Cost.Warnings)
	if s.Risk != nil {
		from("risk", s.Risk.Warnings)
		if s.Risk.Base != s.Cost.Total.Low {
			out = append(out, fmt.Sprintf("risk: simulated on a base of %s, the cost is %s.", s.Risk.Base, s.Cost.Total.Low))
		}
	} else {
		out = append(out, "risk: not available, so no contingency was simulated.")
	}
	if s.Timeline != nil {
		from("timeline", s.Timeline.Warnings)
	} else {
		out = append(out, "timeline: not available.")
	}
	return unique(out)
}

// unique drops repetitions and empty strings and keeps the order.
func unique(list []string) []string {
	seen := map[string]bool{"": true}
	out := []string{}
	for _, text := range list {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}
