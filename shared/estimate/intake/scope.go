package intake

import (
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

var (
	divisionStatuses = choice{
		of:   []string{estimate.Included, estimate.Excluded, estimate.ByOwner, estimate.NotApplicable},
		code: InvalidCSIStatus,
	}
	sources = choice{
		of:   []string{"cad_extraction", "user_input", "inferred", "standard_allowance", "annotation"},
		code: InvalidSource, fallback: "inferred", // the source that is trusted least
	}
	quantities = limit{0, 1e7, InvalidQuantity}
)

// scope reads csiScope: the 24 divisions, every one of them.
func (c cursor) scope() map[string]estimate.ScopeDivision {
	s := c.at("csiScope")
	if !s.object(MissingScope) {
		return nil
	}
	lines := &lines{seen: map[string]string{}}
	divisions := make(map[string]estimate.ScopeDivision, len(catalog.Divisions()))
	for _, d := range catalog.Divisions() {
		if division := s.at(d.Key); division.object(DivisionMissing) {
			divisions[d.Key] = division.division(d, lines)
		}
	}
	if lines.n > MaxItems {
		s.fail(TooManyItems, "", "has %d lines; at most %d are read", lines.n, MaxItems)
	}
	return divisions
}

// lines counts the items of the whole scope and remembers where each id was
// first seen.
type lines struct {
	n    int
	seen map[string]string
}

func (c cursor) division(d catalog.Division, lines *lines) estimate.ScopeDivision {
	v := estimate.ScopeDivision{
		Code:        d.Code,
		Name:        c.at("name").optional(),
		Status:      c.at("status").pick(divisionStatuses),
		Reason:      c.at("exclusionReason").optional(),
		Description: c.at("description").optional(),
		Items:       []estimate.ScopeItem{},
	}
	if v.Name == "" {
		v.Name = d.Name
	}
	code := c.at("code")
	switch s := code.optional(); {
	case code.absent():
		code.fail(InvalidDivision, d.Code, "is missing")
	case s != d.Code && "0"+s != d.Code:
		code.fail(InvalidDivision, d.Code, "%q is not the code of %s", s, d.Key)
	}
	if v.Status == estimate.Excluded && v.Reason == "" {
		c.at("exclusionReason").fail(MissingReason, "why the division is excluded", "is missing")
	}
	items := c.at("items")
	for _, e := range items.each() {
		lines.n++
		if lines.n <= MaxItems && e.object(IncompleteLineItem) {
			v.Items = append(v.Items, e.item(lines))
		}
	}
	if a, isArray := items.v.([]any); v.Status == estimate.Included && len(a) == 0 && (isArray || items.absent()) {
		c.warn(EmptyDivision, "", "is included but has no items")
	}
	return v
}

func (c cursor) item(lines *lines) estimate.ScopeItem {
	i := estimate.ScopeItem{
		ID:              c.at("id").text(IncompleteLineItem),
		Item:            c.at("item").text(IncompleteLineItem),
		Subdivision:     c.at("subdivisionCode").optional(),
		Unit:            c.at("unit").unit(),
		UnitDescription: c.at("unitDescription").optional(),
		Specifications:  c.at("specifications").optional(),
		Notes:           c.at("notes").optional(),
	}
	if first, twice := lines.seen[i.ID]; twice && i.ID != "" {
		c.at("id").fail(DuplicateItemID, "an id of its own", "%q is already the id of %s", i.ID, first)
	} else {
		lines.seen[i.ID] = c.path
	}
	quantity := c.at("quantity")
	q, ok := quantity.number(IncompleteLineItem, quantities)
	if i.Quantity = q; ok && q == 0 {
		quantity.warn(ZeroQuantity, "", "is 0: the line adds nothing")
	}
	i.Confidence, _ = c.at("confidence").number(IncompleteLineItem, fraction)
	if source := c.at("source"); source.absent() {
		source.fail(IncompleteLineItem, list(sources.of), "is missing")
	} else {
		i.Source = source.pick(sources)
	}
	return i
}

// unit returns the canonical unit. One that nobody knows is kept as written
// and needs verification (R9).
func (c cursor) unit() estimate.Unit {
	s := c.text(IncompleteLineItem)
	if s == "" {
		return ""
	}
	u, ok := estimate.ParseUnit(s)
	if !ok {
		c.warn(UnknownUnit, "a unit such as ea, lf, sf, cy, hr or allowance", "%q is no known unit", s)
		return estimate.Unit(s)
	}
	return u
}
