package takeoff

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

// Correction says what to do otherwise with a line: what a critic found.
type Correction struct {
	Avoid  []string // codes not to choose again
	Wider  bool     // take a weaker likeness of words rather than a default
	Verify bool     // a person must look at the quantity, whatever the drawing says
	Reason string   // for the note of the line
}

// Take returns the bill of quantities of c. corrections, by line id, is nil on a
// first attempt. It never fails: what cannot be matched or converted is carried
// with a default and marked, included divisions without a line are Filled, and a
// scope that includes nothing is a bill without lines.
func Take(c *estimate.Clarification, corrections map[string]Correction) estimate.Scope {
	project := ProjectType(c)
	c = Filled(c)
	t := taker{in: c, project: project, geometry: measure(c, project), corrections: corrections, finish: c.Brief.Summary.Finish}
	s := estimate.Scope{
		EstimateID: c.EstimateID, ProjectType: c.Brief.ProjectType, ProjectKey: project.Key,
		Finish: c.Brief.Summary.Finish, Complexity: c.Brief.Summary.Complexity, Sqft: c.Brief.Summary.Sqft,
		Exclusions: append([]string{}, c.Brief.Exclusions...),
	}
	for i := range catalog.Divisions() {
		s.Divisions = append(s.Divisions, t.section(&catalog.Divisions()[i]))
	}
	t.check(&s)
	total(&s)
	s.Completeness = t.completeness(&s)
	s.Class, s.ClassReason = class(t.geometry, &s)
	s.Confidence = sureness(&s)
	t.describe(&s)
	return s
}

// taker carries what every line needs to know of the job.
type taker struct {
	in          *estimate.Clarification
	project     *catalog.ProjectType
	geometry    *geometry
	corrections map[string]Correction
	finish      string // the level that picks the price points
}

// section takes off one division.
func (t *taker) section(d *catalog.Division) estimate.ScopeSection {
	in, ok := t.in.Scope[d.Key]
	s := estimate.ScopeSection{
		Code: d.Code, Name: d.Name, Status: in.Status, Description: in.Description, Reason: in.Reason,
		Items: []estimate.ScopeLine{}, OwnerItems: []string{},
	}
	if !ok {
		s.Status, s.Reason = estimate.NotApplicable, "The division is not in the input."
	}
	for i := range in.Items {
		it := &in.Items[i]
		why := t.excluded(it)
		switch {
		case s.Status != estimate.Included:
			s.OwnerItems = append(s.OwnerItems, it.Item)
		case why != "":
			s.OwnerItems = append(s.OwnerItems, it.Item+becauseExcluded+": "+why+")")
		case isPermit(it, d.Code):
			s.OwnerItems = append(s.OwnerItems, it.Item+becausePermit+")")
		default:
			s.Items = append(s.Items, t.line(it, d.Code, fmt.Sprintf("csiScope.%s.items[%d]", d.Key, i)))
		}
	}
	return s
}

// Why a line of an included division is not priced as a line; both follow the
// name of the item among the items not priced.
const (
	becauseExcluded = " (excluded by the brief"
	becausePermit   = " (in the permit fees, which are priced by class"
)

// LeftOut reports whether text, an item not priced of an included division, is
// the named item with the reason why.
func LeftOut(text, item string) bool {
	return strings.HasPrefix(text, item+becauseExcluded) || strings.HasPrefix(text, item+becausePermit)
}

// isPermit reports whether a line is a permit fee: fees are priced by the class
// of the work and the place, so a line of them would be paid twice.
func isPermit(in *estimate.ScopeItem, division string) bool {
	about := mainWords(in.Item)
	has := func(w string) bool { return slices.Contains(about, canonical(w)) }
	return division == "01" && has("permit") && !has("drawings") && !has("plans") && !has("engineering")
}

// line takes off one line.
func (t *taker) line(in *estimate.ScopeItem, division, path string) estimate.ScopeLine {
	correction := t.corrections[in.ID]
	m := find(in, division, t.geometry, correction)
	q, ok := take(in, m.item, t.geometry)
	if !ok { // a default is per the unit of the line, unless that is no unit
		q = taken{quantity: in.Quantity, unit: estimate.Unit(m.item.Unit), source: Stated, verify: true, note: fmt.Sprintf("the unit %q is not known", in.Unit)}
	}
	l := estimate.ScopeLine{
		ID: in.ID, Item: in.Item, Quantity: in.Quantity, Unit: in.Unit, Source: in.Source,
		TakeoffQty: q.quantity, TakeoffUnit: q.unit, QuantitySource: q.source,
		CostCode: m.item.Code, CodeName: m.item.Name, CodeConfidence: m.confidence, CodeSource: m.source,
		Searchable: searchable(in), Trade: catalog.TradeName(m.item.Trade),
		Validation: Estimated, ValidationNote: join(q.note, m.note),
	}
	if isUsual(in) {
		l.QuantitySource = Formula
	}
	t.price(&l, m.item, q.dollars)
	l.Confidence = in.Confidence
	t.doubt(&l, in, q, path)
	if correction.Verify {
		l.Validation, l.ValidationNote = NeedsVerification, join(l.ValidationNote, correction.Reason)
	}
	l.Description = detail(&l, in)
	return l
}

// price carries the national figures of the item, at the finish level.
func (t *taker) price(l *estimate.ScopeLine, it *catalog.Item, dollars bool) {
	if dollars {
		l.MaterialPerUnit = money.RateFrom(1)
		l.MaterialCost = money.FromFloat(l.TakeoffQty)
		return
	}
	l.MaterialPerUnit, l.HoursPerUnit, l.WastePct = money.RateFrom(it.Material(t.project.GradeOf(t.finish, it))), it.HoursTyp, it.WastePct
	if t.laborExcluded(l) {
		l.HoursPerUnit = 0
		l.ValidationNote = join(l.ValidationNote, "installation is excluded by the brief")
	}
	l.MaterialCost = l.MaterialPerUnit.Times(l.TakeoffQty * (1 + l.WastePct/100))
	l.LaborHours = math.Round(l.TakeoffQty*l.HoursPerUnit*10000) / 10000
	l.EquipmentCost = money.FromFloat(it.Equipment * l.TakeoffQty)
}

// doubt lowers the confidence of a line by what is known against it and asks for
// verification where a person must look.
func (t *taker) doubt(l *estimate.ScopeLine, in *estimate.ScopeItem, q taken, path string) {
	for _, f := range t.in.Flags.LowConfidence {
		if f.Field == path || strings.HasPrefix(f.Field, path+".") {
			l.Confidence = min(l.Confidence, f.Confidence)
			l.Validation, l.ValidationNote = NeedsVerification, join(l.ValidationNote, "flagged: "+f.Reason)
		}
	}
	switch {
	case in.Quantity <= 0:
		l.Validation, l.ValidationNote = NeedsVerification, join(l.ValidationNote, "no quantity is given")
	case q.verify, l.CodeSource == ByDefault:
		l.Validation = NeedsVerification
	}
	l.Confidence = math.Round(l.Confidence*(0.5+0.5*l.CodeConfidence)*100) / 100
}

// total sums lines into divisions and divisions into the scope.
func total(s *estimate.Scope) {
	for i := range s.Divisions {
		d := &s.Divisions[i]
		sure := 0.0
		for j := range d.Items {
			l := &d.Items[j]
			d.MaterialCost += l.MaterialCost
			d.EquipmentCost += l.EquipmentCost
			d.LaborHours += l.LaborHours
			sure += l.Confidence
		}
		d.ItemCount = len(d.Items)
		d.LaborHours = math.Round(d.LaborHours*10000) / 10000
		if d.ItemCount > 0 {
			d.Confidence = math.Round(sure/float64(d.ItemCount)*100) / 100
		}
		if d.Status == estimate.Included {
			s.IncludedDivisions++
		} else {
			s.ExcludedDivisions++
		}
		s.TotalItems += d.ItemCount
		s.MaterialCost += d.MaterialCost
		s.EquipmentCost += d.EquipmentCost
		s.LaborHours += d.LaborHours
	}
	s.LaborHours = math.Round(s.LaborHours*10000) / 10000
}

// searchable is the line as one would type it into the search of a shop.
func searchable(in *estimate.ScopeItem) string {
	s := in.Item
	if in.Specifications != "" {
		s += " " + in.Specifications
	}
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ' ' || r == ',' || r == ';' || r == ':' }), " ")
}

func detail(l *estimate.ScopeLine, in *estimate.ScopeItem) string {
	s := fmt.Sprintf("%s: %s %s of %s (%s)", in.Item, number(l.TakeoffQty), l.TakeoffUnit, l.CodeName, l.CostCode)
	if in.Specifications != "" {
		s += "; " + in.Specifications
	}
	if in.Notes != "" {
		s += ". " + in.Notes
	}
	return s
}

// join puts notes into one text.
func join(notes ...string) string {
	var kept []string
	for _, n := range notes {
		if n != "" {
			kept = append(kept, n)
		}
	}
	return strings.Join(kept, "; ")
}
