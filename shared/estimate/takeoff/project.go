package takeoff

import (
	"cmp"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/formula"
)

// hints are words that speak for a project type of the catalogue over the
// others of the same kind of project.
var hints = map[string][]string{
	"kitchen_minor":         {"reface", "refacing", "refresh", "keep cabinets", "cabinets stay", "minor", "existing cabinets"},
	"kitchen_major":         {"new cabinets", "full remodel", "gut", "replace cabinets", "island"},
	"bath_universal":        {"accessible", "wheelchair", "zero-threshold", "roll-in", "aging in place", "universal design", "ada"},
	"bath_addition_mid":     {"bath addition", "bathroom addition", "powder room addition"},
	"bath_addition_upscale": {"bath addition", "bathroom addition"},
	"primary_suite_mid":     {"suite", "bedroom", "family room"},
	"primary_suite_upscale": {"suite", "bedroom", "family room"},
	"patio_paver":           {"paver patio", "pavers", "stone patio", "patio only", "flagstone"},
	"deck_composite":        {"composite", "pvc decking", "trex", "azek", "timbertech"},
	"deck_wood":             {"treated", "cedar", "wood deck", "pine"},
	"basement_basic":        {"no bath", "without bath", "basic", "rec room only"},
	"adu_detached":          {"adu", "accessory dwelling", "granny flat", "backyard cottage", "guest house"},
	"house_new":             {"new house", "new home", "new construction house", "custom home", "wood-frame house", "new two-story", "ground-up"},
	"office_ti":             {"office", "tenant improvement", "commercial"},
	"demo_interior":         {"demolition only", "interior demolition", "gut house"},
	"foundation_addition":   {"foundation only", "foundation for", "crawlspace foundation"},
	"roof_asphalt":          {"roof replacement", "reroof", "re-roof", "new roof", "shingles"},
	"roof_metal":            {"metal roof", "standing seam", "standing-seam"},
	"siding_vinyl":          {"siding", "vinyl siding"},
	"siding_fiber_cement":   {"fiber cement", "fiber-cement", "hardie"},
	"stone_veneer":          {"stone veneer"},
	"windows_vinyl":         {"window replacement", "replacement windows", "replace windows", "new windows", "vinyl replacements", "vinyl windows"},
	"windows_wood":          {"wood windows", "clad windows", "clad replacements"},
	"door_entry_steel":      {"entry door", "front door"},
	"door_grand_fiberglass": {"sidelights", "grand entrance"},
	"garage_door":           {"garage door", "overhead door", "sectional door"},
	"hvac_electrification":  {"heat pump"},
	"hvac_replace":          {"furnace", "air conditioner", "hvac replacement"},
	"water_heater_gas":      {"water heater", "gas tank", "gal tank", "gallon tank"},
	"water_heater_hp":       {"heat-pump water heater", "heat pump water heater"},
	"panel_200a":            {"panel upgrade", "service upgrade", "200 a panel"},
	"generator":             {"generator"},
	"flooring_lvp":          {"vinyl plank", "lvp", "new flooring", "flooring throughout"},
	"flooring_hardwood":     {"hardwood floor throughout", "hardwood throughout", "prefinished hardwood", "hardwood floors"},
	"paint_interior":        {"interior paint", "repaint", "painting only"},
}

// kindOf groups the project types under the types of the input contract.
// Types of the catalogue that the contract does not know are kinds of "other".
func kindOf(p *catalog.ProjectType) string {
	switch p.SchemaType {
	case "kitchen_remodel", "bathroom_remodel", "bedroom_remodel", "basement_finish", "attic_conversion",
		"whole_house_remodel", "addition", "deck_patio", "garage":
		return p.SchemaType
	default:
		return "other"
	}
}

// ProjectType returns the entry of the catalogue that fits the job best: of the
// kind the brief states, by finish level, size and the words of the
// description. It never returns nil: a living room is refreshed as a bedroom
// is, and a job like none is a whole-house remodel in small.
func ProjectType(c *estimate.Clarification) *catalog.ProjectType {
	kind := c.Brief.ProjectType
	if kind == "living_room_remodel" {
		kind = "bedroom_remodel"
	}
	text := strings.ToLower(strings.Join([]string{c.Brief.ProjectName, c.Brief.Summary.Description, strings.Join(c.Brief.SpecialRequirements, " "), c.ProjectScope}, " "))
	types := catalog.ProjectTypes()
	best, bestScore := -1, 0.0
	for i := range types {
		if kindOf(&types[i]) != kind {
			continue
		}
		if s := fit(&types[i], c, text, kind); best < 0 || s > bestScore {
			best, bestScore = i, s
		}
	}
	if best < 0 || kind == "other" && bestScore < 1 {
		return catalog.ProjectTypeByKey("whole_house_remodel")
	}
	return &types[best]
}

// fit scores a project type: words of the description weigh most, then finish,
// then size. Within one kind a word outweighs everything else.
func fit(p *catalog.ProjectType, c *estimate.Clarification, text, kind string) float64 {
	score := 0.0
	for _, h := range hints[p.Key] {
		if strings.Contains(text, h) {
			score += 1 + 0.05*float64(len(h)) // "heat-pump water heater" says more than "water heater"
		}
	}
	if kind == "other" {
		score += 1.5 * alike(p, c)
	}
	if isFor(p, c.Brief.Summary.Finish) {
		score += finishFits(kind)
	}
	if sqft := c.Brief.Summary.Sqft; sqft > 0 {
		if usual := UsualArea(p); usual > 0 {
			score += 0.4 * min(sqft, usual) / max(sqft, usual)
		}
	}
	if p.Key == "kitchen_minor" && hasNew(c, "cabinet") {
		score -= 2 // a refresh keeps its cabinets
	}
	return score
}

// alike compares the sections that the lines of the scope name with those of the
// usual bill: how many of all are in both, 0–1. Several types that the contract
// calls "other" are told apart by little else.
func alike(p *catalog.ProjectType, c *estimate.Clarification) float64 {
	named := map[string]bool{}
	for _, d := range catalog.Divisions() {
		for _, it := range c.Scope[d.Key].Items {
			if section := digits(it.Subdivision); section != "" && c.Scope[d.Key].Status == estimate.Included {
				named[section] = true
			}
		}
	}
	both, usual := 0, map[string]bool{}
	for _, line := range catalog.AssemblyLines() {
		section := digits(line.ItemCode)
		if line.ProjectKey != p.Key || usual[section] {
			continue
		}
		usual[section] = true
		if named[section] {
			both++
		}
	}
	return float64(both) / float64(max(1, len(named)+len(usual)-both))
}

// isFor reports whether a type is of a finish level: all, the level itself, or a
// kind of it, as high_end_bath.
func isFor(p *catalog.ProjectType, finish string) bool {
	return p.FinishLevels == "all" || slices.ContainsFunc(strings.Split(p.FinishLevels, ","), func(level string) bool {
		return finish != "" && (level == finish || strings.HasPrefix(level, finish+"_") || finish == "luxury" && strings.HasPrefix(level, "high_end_"))
	})
}

// finishFits is what the finish level is worth: it decides between the levels of
// one job, and says nothing about which of the other jobs is meant.
func finishFits(kind string) float64 {
	if kind == "other" {
		return 0.3
	}
	return 0.9
}

// UsualArea is the default size of a project type in sf; 0 when it is not
// measured by area, and for nil.
func UsualArea(p *catalog.ProjectType) float64 {
	if p == nil {
		return 0
	}
	for pair := range strings.SplitSeq(p.DriverDefaults, ";") {
		if name, value, ok := strings.Cut(pair, "="); ok && name == "A" {
			v, err := formula.Eval(value, nil)
			if err == nil {
				return v
			}
		}
	}
	return 0
}

// hasNew reports whether division 06 or 12 has a line of new base cabinets.
func hasNew(c *estimate.Clarification, word string) bool {
	for _, key := range []string{"div06_wood_plastics_composites", "div12_furnishings"} {
		d := c.Scope[key]
		if d.Status != estimate.Included {
			continue
		}
		for _, it := range d.Items {
			name := strings.ToLower(it.Item)
			if strings.Contains(name, word) && strings.Contains(name, "base") && !strings.Contains(name, "refac") {
				return true
			}
		}
	}
	return false
}

// class returns the AACE class the input supports, and why: the class of the
// least defined of the three divisions that cost most.
func class(g *geometry, s *estimate.Scope) (int, string) {
	type group struct {
		section *estimate.ScopeSection
		cost    float64
	}
	var groups []group
	for i := range s.Divisions {
		if d := &s.Divisions[i]; len(d.Items) > 0 {
			groups = append(groups, group{d, d.MaterialCost.Float() + d.EquipmentCost.Float() + d.LaborHours*classHour})
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(b.cost, a.cost) })
	if len(groups) == 0 {
		return 5, "Only type and size are known: no division has a line."
	}
	worst, why := 3, "Measured plan and line items for the three largest divisions; selections are at the level of allowances."
	for _, gr := range groups[:min(3, len(groups))] {
		if k, w := definition(gr.section, g); k > worst {
			worst, why = k, w
		}
	}
	return worst, why
}

// classHour values an hour when divisions are ranked: the level of the national
// burdened rates.
const classHour = 40

// definition grades how well a division is defined: 5 by a guess, 4 by stated or
// inferred lines, 3 by lines most of which are measured or confirmed.
func definition(d *estimate.ScopeSection, g *geometry) (int, string) {
	firm, weak := 0, 0
	for i := range d.Items {
		l := &d.Items[i]
		switch {
		case l.CodeSource == ByDefault || l.Validation == NeedsVerification || l.QuantitySource == Allowance, l.QuantitySource == Formula && l.Source == "standard_allowance":
			weak++
		case l.Validation == Validated || l.QuantitySource == Measured || l.Source == "user_input":
			firm++
		}
	}
	n := len(d.Items)
	switch {
	case weak*2 > n && n < 3:
		return 5, "Division " + d.Code + ", one of the three largest, is little more than an allowance."
	case !g.known || firm*2 < n:
		return 4, "Division " + d.Code + ", one of the three largest, rests on lines that are inferred or unmeasured."
	default:
		return 3, ""
	}
}
