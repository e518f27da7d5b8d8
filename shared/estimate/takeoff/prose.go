package takeoff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
)

// describe writes the prose of the scope from its figures.
func (t *taker) describe(s *estimate.Scope) {
	kind := strings.ReplaceAll(s.ProjectType, "_", " ")
	s.NeedsReview = s.Completeness.ValidationCoverage < 0.8 || s.Completeness.CodeCoverage < 0.9 || !s.Completeness.AllDivisions || t.in.Status == "needs_review" || t.in.Flags.UserVerification
	s.Summary = fmt.Sprintf("%d lines in %d included divisions for %s of %s sf, %s finish; class %d estimate.",
		s.TotalItems, s.IncludedDivisions, withArticle(kind), number(s.Sqft), strings.ReplaceAll(s.Finish, "_", "-"), s.Class)
	a := estimate.ScopeAnalysis{Materials: []string{}, Complexity: []string{}, Recommendations: []string{}}
	a.Summary = fmt.Sprintf("The scope holds %d lines with about %.0f worker-hours at catalogue pace and %s of material at national prices. %.0f percent of the lines have a code of the catalogue, %.0f percent a quantity that stands. %s",
		s.TotalItems, s.LaborHours, s.MaterialCost.Whole(), s.Completeness.CodeCoverage*100, s.Completeness.ValidationCoverage*100, s.ClassReason)
	a.Observations = observations(s)
	a.Materials = append(a.Materials, dearest(s)...)
	a.Complexity = append(a.Complexity, t.complexity(s)...)
	a.Finish = fmt.Sprintf("Priced at the %q column of the catalogue, as %s finish asks of %s.", t.project.Grade(t.finish), strings.ReplaceAll(s.Finish, "_", "-"), strings.ReplaceAll(s.ProjectKey, "_", " "))
	a.Recommendations = append(a.Recommendations, advice(s)...)
	s.Analysis = a
}

func withArticle(noun string) string {
	if noun != "" && strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func observations(s *estimate.Scope) []string {
	verdicts := map[string]int{}
	busiest, hours := "", -1.0
	for i := range s.Divisions {
		d := &s.Divisions[i]
		if d.LaborHours > hours {
			busiest, hours = d.Code+" "+d.Name, d.LaborHours
		}
		for j := range d.Items {
			verdicts[d.Items[j].Validation]++
		}
	}
	out := []string{
		fmt.Sprintf("Quantities: %d validated on the drawing, %d stated, %d to verify, %d in disagreement.",
			verdicts[Validated], verdicts[Estimated], verdicts[NeedsVerification], verdicts[Discrepancy]),
		fmt.Sprintf("Most labor is in division %s: %.0f hours.", busiest, max(0, hours)),
	}
	if len(s.Completeness.Missing) > 0 {
		out = append(out, "Work that belongs to this scope and has no line: "+strings.Join(s.Completeness.Missing, "; ")+".")
	}
	if len(s.Exclusions) > 0 {
		out = append(out, "Excluded by the brief: "+strings.Join(s.Exclusions, "; ")+".")
	}
	return out
}

// dearest names the five lines with the most material.
func dearest(s *estimate.Scope) []string {
	var lines []*estimate.ScopeLine
	for i := range s.Divisions {
		for j := range s.Divisions[i].Items {
			lines = append(lines, &s.Divisions[i].Items[j])
		}
	}
	slices.SortStableFunc(lines, func(a, b *estimate.ScopeLine) int { return cmp.Compare(b.MaterialCost, a.MaterialCost) })
	var out []string
	for _, l := range lines[:min(5, len(lines))] {
		out = append(out, fmt.Sprintf("%s: %s %s, %s", l.Item, number(l.TakeoffQty), l.TakeoffUnit, l.MaterialCost.Whole()))
	}
	return out
}

func (t *taker) complexity(s *estimate.Scope) []string {
	out := []string{fmt.Sprintf("The brief calls the project %s.", s.Complexity)}
	if y := t.in.Brief.YearBuilt; y > 0 && y < 1978 {
		out = append(out, fmt.Sprintf("The house is of %d: lead-safe work, and a survey for asbestos before demolition.", y))
	}
	for _, r := range t.in.Brief.SpecialRequirements {
		out = append(out, "Required: "+r)
	}
	return out
}

func advice(s *estimate.Scope) []string {
	var out []string
	for _, m := range s.Completeness.Missing {
		out = append(out, "Add or decide against: "+m+".")
	}
	if s.Completeness.ValidationCoverage < 1 {
		out = append(out, "Verify the quantities that are marked before the price is offered.")
	}
	return append(out, fmt.Sprintf("Confirm selections at %s level: they set the price of finish materials.", strings.ReplaceAll(s.Finish, "_", "-")))
}
