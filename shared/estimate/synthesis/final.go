package synthesis

import (
	"fmt"
	"math"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/fault"
)

// Version of the final document's form.
const Version = "1.0"

// ValidDays is how long the price holds.
const ValidDays = 30

// sampleSize is how many cost items the final document shows.
const sampleSize = 25

// Final joins the outputs in ctx. It needs ctx.Cost, else the error is
// fault.Invalid; any other output may be missing, which the result says among
// its review reasons. GeneratedAt is ctx.Now.
func Final(ctx estimate.Context) (estimate.Final, error) {
	if ctx.Cost == nil {
		return estimate.Final{}, fault.New(fault.Invalid, "cost_output: the cost to conclude from is missing")
	}
	s := subject{ctx}
	f := estimate.Final{
		EstimateID: ctx.EstimateID, GeneratedAt: ctx.Now, Version: Version, Breakdown: s.breakdown(), Timeline: s.timeline(),
		Risk: s.risk(), Exclusions: s.exclusions(), Allowances: s.allowances(), Disclaimers: s.disclaimers(), Sources: s.sources(),
		ReviewReasons: s.reasons(), Complete: true,
	}
	f.NeedsReview = len(f.ReviewReasons) > 0
	f.DataQuality = s.quality()
	f.Confidence = s.confidence(f.DataQuality)
	f.Executive = s.executive(&f)
	f.Assumptions = s.assumptions()
	f.Recommendations = s.recommendations(&f)
	items := CostItems(ctx.Cost)
	f.CostItems = estimate.GranularItems{
		Count: len(items), Path: "estimates/" + ctx.EstimateID + "/costItems",
		Sample: items[:min(sampleSize, len(items))], Truncated: len(items) > sampleSize,
	}
	f.Summary = s.summary(&f)
	return f, nil
}

// subject is what the estimate is about; its methods read the context and
// tolerate every output but the cost missing.
type subject struct{ estimate.Context }

// contingency returns the amount and its percent of the base, and whether the
// user fixed it.
func (s subject) contingency() (amount money.Cents, pct float64, fixed bool) {
	base := s.Cost.Total.Low
	a := &s.Cost.Adjustments
	switch {
	case a.ContingencyFixed:
		return a.Contingency.Low, round2(a.ContingencyPct * 100), true
	case s.Risk == nil:
		return 0, 0, false
	}
	amount = max(0, s.Risk.Contingency.Dollars)
	if base > 0 {
		pct = round2(100 * float64(amount) / float64(base))
	}
	return amount, pct, false
}

func (s subject) breakdown() estimate.CostBreakdown {
	sub, a := &s.Cost.Subtotals, &s.Cost.Adjustments
	b := estimate.CostBreakdown{
		Materials: sub.Materials.Low, Labor: sub.Labor.Low, Equipment: sub.Equipment.Low,
		Direct:             money.Sum(sub.Materials.Low, sub.Labor.Low, sub.Equipment.Low),
		LocationAdjustment: a.LocationAdjustment.Low, Overhead: a.Overhead.Low, Profit: a.Profit.Low,
		Permits: a.Permits.Low, Taxes: a.Tax.Low,
	}
	b.BeforeContingency = money.Sum(b.Direct, b.LocationAdjustment, b.Overhead, b.Profit, b.Permits, b.Taxes)
	b.Contingency, b.ContingencyPct, b.ContingencyFixed = s.contingency()
	b.Total = b.BeforeContingency + b.Contingency
	return b
}

func (s subject) timeline() estimate.FinalTimeline {
	t := estimate.FinalTimeline{Milestones: []estimate.Milestone{}}
	if s.Timeline != nil {
		t = estimate.FinalTimeline{
			TotalDays: s.Timeline.Duration, TotalWeeks: s.Timeline.Weeks, Start: s.Timeline.Start, End: s.Timeline.End,
			Milestones: append(t.Milestones, s.Timeline.Milestones...), Range: s.Timeline.DurationRange,
		}
	}
	return t
}

func (s subject) executive(f *estimate.Final) estimate.ExecutiveSummary {
	b := &f.Breakdown
	e := estimate.ExecutiveSummary{
		ProjectType: s.projectType(), Location: s.place(), Sqft: s.sqft(), Finish: s.finish(),
		TotalCost: b.Total, BaseCost: b.BeforeContingency, Contingency: b.Contingency, ContingencyPct: b.ContingencyPct,
		Range: s.percentiles(), Duration: s.duration(), Weeks: f.Timeline.TotalWeeks, Start: f.Timeline.Start, End: f.Timeline.End,
		Confidence: level(f.Confidence), Complexity: s.complexity(), ValidDays: ValidDays,
	}
	e.Class, e.ClassReason = s.class()
	if e.Sqft > 0 {
		e.CostPerSqft = money.FromFloat(e.TotalCost.Float() / e.Sqft)
	}
	return e
}

// percentiles are those of the simulation; without one, those of the cost, which
// knows no P10 and puts the base in its place.
func (s subject) percentiles() estimate.Percentiles {
	if s.Risk != nil {
		return s.Risk.MonteCarlo.Percentiles
	}
	t := s.Cost.Total
	return estimate.Percentiles{P10: t.Low, P50: t.Low, P80: t.Medium, P90: t.High}
}

func (s subject) duration() string {
	if s.Timeline == nil {
		return "not available"
	}
	return fmt.Sprintf("%.1f weeks (%.0f working days)", s.Timeline.Weeks, s.Timeline.Duration)
}

// class is the estimate class of the scope; without one, the least.
func (s subject) class() (class int, reason string) {
	if s.Scope == nil || s.Scope.Class == 0 {
		return 5, "The definition of the scope is not known."
	}
	return s.Scope.Class, s.Scope.ClassReason
}

// Weights of the outputs in completeness.
const (
	weightLocation, weightScope, weightCost, weightRisk, weightTimeline = 0.20, 0.20, 0.25, 0.20, 0.15
)

func (s subject) quality() estimate.DataQuality {
	c := weightCost
	if s.Location != nil {
		c += weightLocation
	}
	if s.Scope != nil {
		c += weightScope
	}
	if s.Risk != nil {
		c += weightRisk
	}
	if s.Timeline != nil {
		c += weightTimeline
	}
	return estimate.DataQuality{Completeness: round2(c), Cost: s.Cost.Confidence}
}

// confidence is half completeness, three tenths the confidence of the cost and
// two tenths the class of the estimate.
func (s subject) confidence(q estimate.DataQuality) float64 {
	class, _ := s.class()
	definition := float64(5-class+1) / 4 // class 2 is as good as it gets without quotes
	return round2(0.5*q.Completeness + 0.3*q.Cost + 0.2*min(1, definition))
}

func level(confidence float64) string {
	switch {
	case confidence >= 0.85:
		return "high"
	case confidence >= 0.6:
		return "medium"
	}
	return "low"
}

func (s subject) sqft() float64 {
	switch {
	case s.Scope != nil && s.Scope.Sqft > 0:
		return s.Scope.Sqft
	case s.Clarification != nil:
		return s.Clarification.Brief.Summary.Sqft
	}
	return 0
}

func (s subject) projectType() string {
	switch {
	case s.Clarification != nil:
		return s.Clarification.Brief.ProjectType
	case s.Scope != nil:
		return s.Scope.ProjectType
	}
	return ""
}

func (s subject) finish() string {
	switch {
	case s.Scope != nil && s.Scope.Finish != "":
		return s.Scope.Finish
	case s.Clarification != nil:
		return s.Clarification.Brief.Summary.Finish
	}
	return ""
}

func (s subject) complexity() string {
	switch {
	case s.Scope != nil && s.Scope.Complexity != "":
		return s.Scope.Complexity
	case s.Clarification != nil:
		return s.Clarification.Brief.Summary.Complexity
	}
	return ""
}

func (s subject) place() string {
	switch {
	case s.Clarification != nil && s.Clarification.Brief.Location.City != "":
		a := s.Clarification.Brief.Location
		return a.City + ", " + a.State
	case s.Location != nil && s.Location.City != "":
		return s.Location.City + ", " + s.Location.State
	case s.Location != nil:
		return s.Location.State
	}
	return ""
}

// accuracy is what the class of the estimate promises, in percent of it.
func accuracy(class int) (low, high float64) {
	for _, c := range catalog.Classes() {
		if c.Class == class {
			return c.LowMax, c.HighMax
		}
	}
	return 0, 0
}

func round2(x float64) float64 { return math.Round(x*100) / 100 }
