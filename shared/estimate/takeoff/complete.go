package takeoff

import (
	"fmt"
	"math"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// expected divisions of each kind of project.
var expected = map[string]string{
	"kitchen_remodel":     "01 02 06 08 09 10 11 12 22 26",
	"bathroom_remodel":    "01 02 06 08 09 10 12 22 26",
	"bedroom_remodel":     "01 02 06 08 09 26",
	"living_room_remodel": "01 02 06 08 09 26",
	"basement_finish":     "01 02 03 06 07 08 09 22 23 26",
	"attic_conversion":    "01 02 06 07 08 09 22 23 26",
	"whole_house_remodel": "01 02 06 07 08 09 10 11 12 22 23 26",
	"addition":            "01 02 03 05 06 07 08 09 22 23 26 31",
	"deck_patio":          "01 02 06 26 32",
	"garage":              "01 02 03 06 07 08 09 26 31",
}

// Expected returns the divisions a project type is expected to decide about,
// by their two digits; nil for a type without an expectation.
func Expected(projectType string) []string { return strings.Fields(expected[projectType]) }

// need is a rule of completeness: work that has one thing needs another.
type need struct {
	when     []string // prefixes of codes, any of which raises the need
	then     []string // prefixes of codes, any of which meets it
	division string   // the division that would hold it; a decision to leave it out meets the need
	kinds    string   // project types it is for; empty for all
	missing  string
}

// needs are the rules of estimating practice §3: wet rooms, opened walls, heavy
// cabinets, and what every job leaves behind.
var needs = []need{
	{when: []string{"064100.11", "064100.21", "064100.31", "102800.12"}, then: []string{"061100.20"}, division: "06", missing: "blocking for wall cabinets and grab bars"},
	{when: []string{"092900.10", "092900.11", "092900.12", "092900.20"}, then: []string{"099123.1", "097200", "093013.11", "093033"}, division: "09", missing: "paint or finish of the new drywall"},
	{when: []string{"024119.17", "024119.15"}, then: []string{"092900"}, division: "09", missing: "new board where wall finish is removed"},
	{when: []string{"024119.10"}, then: []string{"0641"}, division: "06", kinds: "kitchen_remodel bathroom_remodel", missing: "cabinets in place of those removed"},
	{when: []string{"024119.13", "024119.14", "024119.16"}, then: []string{"0930", "0962", "0964", "0965", "0968"}, division: "09", missing: "floor finish where the old one is removed"},
	{when: []string{"0241"}, then: []string{"017400.3", "024119.37"}, division: "01", missing: "dumpster or haul-off of debris"},
	{when: []string{"093013.11", "093013.20", "224123.1"}, then: []string{"093013.21", "071326", "224123.20", "093013.20"}, division: "09", kinds: "bathroom_remodel", missing: "waterproofing of shower or tub walls"},
	{when: []string{"093013.11"}, then: []string{"092900.13", "093013.21"}, division: "09", kinds: "bathroom_remodel", missing: "backer board behind wall tile"},
	{when: []string{"224119.10", "224123.1"}, then: []string{"093013.11", "093033", "224123.20"}, division: "09", kinds: "bathroom_remodel", missing: "wall finish round the tub or shower"},
	{when: []string{"224119.1", "224123.2"}, then: []string{"0241"}, division: "02", kinds: "bathroom_remodel", missing: "demolition of the tub or shower that is replaced"},
	{when: []string{"2241"}, then: []string{"221116", "221316"}, division: "22", kinds: "bathroom_remodel addition basement_finish attic_conversion", missing: "rough-in for the plumbing fixtures"},
	{when: []string{"224119", "224123"}, then: []string{"233423"}, division: "23", kinds: "bathroom_remodel attic_conversion basement_finish", missing: "exhaust fan of the wet room"},
	{when: []string{"2241"}, then: []string{"262726.11"}, division: "26", kinds: "kitchen_remodel bathroom_remodel", missing: "GFCI receptacles"},
	{when: []string{"123640", "123661"}, then: []string{"2241"}, division: "22", kinds: "kitchen_remodel", missing: "sink for the new countertop"},
	{when: []string{"061533.1"}, then: []string{"033053.4", "033053.1", "033053.7"}, division: "03", missing: "footings of the deck"},
	{when: []string{"061533.2"}, then: []string{"061533.1"}, division: "06", kinds: "deck_patio", missing: "framing under the deck boards"},
	{when: []string{"061533.2"}, then: []string{"061533.3", "057300"}, division: "06", kinds: "deck_patio", missing: "rail of the deck, if it is 30 in above grade"},
	{when: []string{"061100.12"}, then: []string{"061600.10"}, division: "06", missing: "sheathing of the exterior walls"},
	{when: []string{"061100.12"}, then: []string{"0721"}, division: "07", missing: "insulation of the exterior walls"},
	{when: []string{"061100.12"}, then: []string{"0746", "0421", "0473"}, division: "07", kinds: "addition garage", missing: "siding of the exterior walls"},
	{when: []string{"061100.13", "061753"}, then: []string{"0731", "0741", "0754"}, division: "07", missing: "roofing over the new roof frame"},
	{when: []string{"033053.1", "033053.5"}, then: []string{"3123"}, division: "31", missing: "excavation for the footings"},
}

// completeness says what is missing, and how much of the scope is coded and
// checked.
func (t *taker) completeness(s *estimate.Scope) estimate.Completeness {
	c := estimate.Completeness{
		AllCoded: true, AllQuantified: true, AllDivisions: true, AllValidated: true,
		Warnings: []string{}, Missing: []string{}, SuggestedAdditions: []string{},
	}
	coded, checked := 0, 0
	status := map[string]string{}
	have := map[string]bool{}
	for i := range s.Divisions {
		d := &s.Divisions[i]
		status[d.Code] = d.Status
		switch n := t.filledIn(d.Code); {
		case d.Status == estimate.Included && len(d.Items) == 0:
			c.Warnings = append(c.Warnings, fmt.Sprintf("Division %s is included and has no lines.", d.Code))
		case n > 0:
			c.Warnings = append(c.Warnings, fmt.Sprintf("Division %s is included and came without a line: the %d usual ones of such a job stand in. Confirm them.", d.Code, n))
		}
		for j := range d.Items {
			l := &d.Items[j]
			have[l.CostCode] = true
			if l.CodeSource != ByDefault {
				coded++
			}
			if l.Validation == Validated || l.Validation == Estimated {
				checked++
			} else {
				c.Warnings = append(c.Warnings, fmt.Sprintf("%s %s: %s (%s).", l.ID, l.Item, strings.ReplaceAll(l.Validation, "_", " "), l.ValidationNote))
			}
			c.AllQuantified = c.AllQuantified && l.TakeoffQty > 0
		}
		for _, text := range d.OwnerItems {
			if d.Status == estimate.Included {
				c.Warnings = append(c.Warnings, "Not priced as a line: "+text+".")
			}
		}
	}
	if s.TotalItems > 0 {
		c.CodeCoverage, c.ValidationCoverage = share(coded, s.TotalItems), share(checked, s.TotalItems)
	}
	c.AllCoded, c.AllValidated = coded == s.TotalItems, checked == s.TotalItems
	for _, code := range Expected(s.ProjectType) {
		if status[code] == estimate.NotApplicable {
			c.AllDivisions = false
			c.Warnings = append(c.Warnings, fmt.Sprintf("Division %s is usual for %s and is marked not applicable.", code, withArticle(strings.ReplaceAll(s.ProjectType, "_", " "))))
		}
	}
	c.Missing = append(c.Missing, t.missing(s, have, status)...)
	c.Warnings = append(c.Warnings, duplicates(s)...)
	c.SuggestedAdditions = append(c.SuggestedAdditions, t.suggest(s, have, status)...)
	return c
}

func share(n, of int) float64 { return math.Round(float64(n)/float64(of)*10000) / 10000 }

// leadYear is the first year of houses without lead paint, asbestosYear of
// houses without asbestos in floors and boards.
const (
	leadYear     = 1978
	asbestosYear = 1981
)

// hazards of an old house that is taken apart (a year of 0 is not known).
func (t *taker) hazards(any func(...string) bool) []string {
	year := t.in.Brief.YearBuilt
	if year == 0 || !any("0241") {
		return nil
	}
	var out []string
	if year < leadYear && !any("0283") {
		out = append(out, fmt.Sprintf("lead-safe set-up for work in a house of %d", year))
	}
	if year < asbestosYear && !any("0282") {
		out = append(out, fmt.Sprintf("asbestos survey before demolition in a house of %d", year))
	}
	return out
}

// missing applies the rules. Work in a division that is by owner or excluded is
// somebody's decision, not an omission.
func (t *taker) missing(s *estimate.Scope, have map[string]bool, status map[string]string) []string {
	any := func(prefixes ...string) bool {
		for code := range have {
			for _, p := range prefixes {
				if strings.HasPrefix(code, p) {
					return true
				}
			}
		}
		return false
	}
	var out []string
	for _, n := range needs {
		if n.kinds != "" && !strings.Contains(n.kinds, s.ProjectType) {
			continue
		}
		if st := status[n.division]; st == estimate.Excluded || st == estimate.ByOwner {
			continue
		}
		if any(n.when...) && !any(n.then...) {
			out = append(out, n.missing)
		}
	}
	return append(out, t.hazards(any)...)
}

// duplicates names lines of one item and one text: the same work twice.
func duplicates(s *estimate.Scope) []string {
	first := map[string]string{}
	var out []string
	for i := range s.Divisions {
		for j := range s.Divisions[i].Items {
			l := &s.Divisions[i].Items[j]
			key := l.CostCode + "|" + strings.Join(tokens(l.Item), " ")
			if other, ok := first[key]; ok {
				out = append(out, fmt.Sprintf("%s and %s look like the same work (%s).", other, l.ID, l.Item))
				continue
			}
			first[key] = l.ID
		}
	}
	return out
}

// maxSuggestions keeps the list readable.
const maxSuggestions = 8

// suggest names items that the typical bill of the project type has, in
// divisions that are included, and that the scope has nothing like.
func (t *taker) suggest(s *estimate.Scope, have map[string]bool, status map[string]string) []string {
	groups := map[string]bool{}
	for code := range have {
		groups[group(code)] = true
	}
	var out []string
	for _, line := range catalog.AssemblyLines() {
		if line.ProjectKey != s.ProjectKey || len(out) == maxSuggestions {
			continue
		}
		it := catalog.ItemByCode(line.ItemCode)
		if g := group(it.Code); !groups[g] && status[it.Division] == estimate.Included {
			groups[g] = true
			out = append(out, fmt.Sprintf("%s (%s)", it.Name, it.Code))
		}
	}
	return out
}

// group puts codes together that stand for one another: floor finishes, and
// else what shares its first four digits.
func group(code string) string {
	if strings.HasPrefix(code, "096") {
		return "096"
	}
	return code[:min(4, len(code))]
}

// sureness is the published formula: codes 0.4, quantities 0.3, divisions 0.3.
func sureness(s *estimate.Scope) float64 {
	divisions := 1.0
	if !s.Completeness.AllDivisions {
		divisions = 0.7
	}
	return math.Round((0.4*s.Completeness.CodeCoverage+0.3*s.Completeness.ValidationCoverage+0.3*divisions)*100) / 100
}
