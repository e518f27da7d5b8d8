package pricing

import (
	"fmt"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// terms are what every line of a job is priced under.
type terms struct {
	project *catalog.ProjectType
	profile catalog.Markup
	markups markups
	finish  string // the level that picks the price points
	place   *estimate.Location
	taxes   taxes
	esc     escalation
	waste   *float64 // the user's, as a fraction; nil keeps the catalogue's
	own     *estimate.Contractor
	factors []factor

	contingency *float64
	preferences []string // what of the user's was applied, in words
	assumptions []string
	warnings    []string
	unrated     []string // trades without a local rate
}

// fallbackProject prices a job whose type the catalogue does not have.
const fallbackProject = "whole_house_remodel"

func termsOf(ctx estimate.Context) *terms {
	t := &terms{place: ctx.Location, own: ctx.Own()}
	t.project = catalog.ProjectTypeByKey(ctx.Scope.ProjectKey)
	if t.project == nil {
		t.project = catalog.ProjectTypeByKey(fallbackProject)
		t.warn("The project type %q has no contract profile; that of %s was used.", ctx.Scope.ProjectKey, fallbackProject)
	}
	t.profile = *catalog.MarkupByProfile(t.project.MarkupProfile)
	t.markups = markups{
		design: t.project.DesignFeePct / 100, general: t.profile.GeneralConditionsPct / 100,
		overhead: t.profile.OverheadPct / 100, profit: t.profile.ProfitPct / 100,
	}
	if excludes(ctx, designWords) {
		t.markups.design = 0
		t.assume("Design and engineering are excluded and carry no fee.")
	}
	t.finish = ctx.Scope.Finish
	t.taxes = taxesOf(ctx.Location.Tax, t.project.PermitClass == "commercial")

	year := ctx.Location.PriceYear
	if year == 0 {
		year = catalog.PriceYear
	}
	mid, assumed := midpoint(ctx.Clarification, year, t.project.WorkingDays)
	t.esc = escalate(year, mid)
	t.assume("%s", assumed)
	t.assume("%s", t.esc.note)
	if ctx.Clarification != nil && ctx.Clarification.Brief.Preferences != nil {
		t.prefer(*ctx.Clarification.Brief.Preferences)
	}
	t.factors = factorsOf(ctx)
	return t
}

// gradeOf returns the price point of an item on this job.
func (t *terms) gradeOf(item *catalog.Item) catalog.Grade { return t.project.GradeOf(t.finish, item) }

func (t *terms) warn(format string, args ...any) {
	t.warnings = append(t.warnings, fmt.Sprintf(format, args...))
}

// assume notes an assumption; an empty one is none.
func (t *terms) assume(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != "" {
		t.assumptions = append(t.assumptions, text)
	}
}

// Bounds beyond which a preference of the user is worth a question. It is
// applied nevertheless: it is the user's price (R13).
const (
	saneOverhead    = 0.50
	saneProfit      = 0.40
	saneContingency = 0.30
	saneWaste       = 0.30
)

func (t *terms) prefer(p estimate.Preferences) {
	set := func(name string, value *float64, sane float64, into *float64) {
		if value == nil {
			return
		}
		v := max(0, *value)
		*into = v
		t.preferences = append(t.preferences, fmt.Sprintf("%s %s", name, percent(v)))
		if *value < 0 || v > sane {
			t.warn("The preferred %s of %s is unusual; up to %s is common.", name, percent(*value), percent(sane))
		}
	}
	set("overhead", p.Overhead, saneOverhead, &t.markups.overhead)
	set("profit", p.Profit, saneProfit, &t.markups.profit)
	if p.Contingency != nil {
		t.contingency = new(float64)
		set("contingency", p.Contingency, saneContingency, t.contingency)
	}
	if p.Waste != nil {
		t.waste = new(float64)
		added := *p.Waste - 1
		set("waste", &added, saneWaste, t.waste)
	}
}

func percent(fraction float64) string {
	return fmt.Sprintf("%.4g %%", fraction*100)
}
