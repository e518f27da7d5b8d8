package takeoff

import (
	"fmt"
	"maps"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/formula"
)

// Filled returns c with the usual lines of its kind of job in every included
// division that has no line: a scope that is thin is priced by the assembly of
// the catalogue, at the size the brief and the drawing give, and says so. It is
// c itself when there is nothing to fill, or no kind of job is recognised.
//
// Work that another division has, or that one leaves out, is not filled in: what
// is filed elsewhere, or is by owner, must not be paid twice.
func Filled(c *estimate.Clarification) *estimate.Clarification {
	empty := map[string]string{} // key of a division by its code
	for _, d := range catalog.Divisions() {
		if in := c.Scope[d.Key]; in.Status == estimate.Included && len(in.Items) == 0 {
			empty[d.Code] = d.Key
		}
	}
	project := ProjectType(c)
	if len(empty) == 0 || project.SchemaType != c.Brief.ProjectType && kindOf(project) != "other" {
		return c
	}
	g := measure(c, project)
	drivers, err := catalog.Drivers(project, g.driver)
	if err != nil {
		return c // a defect of the catalogue, which a test would find
	}
	filled := *c
	filled.Scope = maps.Clone(c.Scope)
	elsewhere := decided(c, g)
	for _, line := range catalog.AssemblyLines() {
		it := catalog.ItemByCode(line.ItemCode)
		key, isEmpty := empty[it.Division]
		q, err := formula.Eval(line.Formula, drivers)
		if line.ProjectKey != project.Key || !isEmpty || elsewhere[group(it.Code)] || err != nil || q <= 0 {
			continue
		}
		d := filled.Scope[key]
		d.Items = append(d.Items, usual(it, q, fmt.Sprintf("%s-usual-%d", it.Division, len(d.Items)+1), project))
		filled.Scope[key] = d
	}
	return &filled
}

// usualNote opens the notes of a line that was filled in.
const usualNote = "The usual quantity for "

// usual is a line of an assembly, as a scope has it.
func usual(it *catalog.Item, quantity float64, id string, p *catalog.ProjectType) estimate.ScopeItem {
	return estimate.ScopeItem{
		ID: id, Item: it.Name, Subdivision: it.Section, Quantity: quantity, Unit: estimate.Unit(it.Unit), Confidence: 0.5,
		Source: "standard_allowance", Notes: usualNote + strings.ReplaceAll(p.Key, "_", " ") + ", for want of a line in the brief",
	}
}

func isUsual(in *estimate.ScopeItem) bool { return strings.HasPrefix(in.Notes, usualNote) }

// decided are the groups of work that the brief has a line of, priced or not.
func decided(c *estimate.Clarification, g *geometry) map[string]bool {
	groups := map[string]bool{}
	for _, d := range catalog.Divisions() {
		items := c.Scope[d.Key].Items
		for i := range items {
			if m := find(&items[i], d.Code, g, Correction{}); m.source != ByDefault {
				groups[group(m.item.Code)] = true
			}
		}
	}
	return groups
}

// filledIn counts the lines that were filled in, in a division.
func (t *taker) filledIn(code string) int {
	n := 0
	for _, d := range catalog.Divisions() {
		items := t.in.Scope[d.Key].Items
		for i := range items {
			if d.Code == code && isUsual(&items[i]) {
				n++
			}
		}
	}
	return n
}
