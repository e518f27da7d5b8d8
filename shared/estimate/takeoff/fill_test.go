package takeoff

import (
	"strings"
	"testing"

	"truecost.dev/shared/estimate"
)

func TestThinDivisionsAreFilled(t *testing.T) {
	t.Parallel()
	c := kitchen("06")
	s := Take(c, nil)
	if len(c.Scope["div06_wood_plastics_composites"].Items) != 0 {
		t.Error("Take changed the scope it was given")
	}
	d := s.Divisions[5]
	if d.Code != "06" || len(d.Items) < 3 {
		t.Fatalf("division %s has %d lines, want the usual ones of a kitchen", d.Code, len(d.Items))
	}
	for _, l := range d.Items {
		if l.QuantitySource != Formula || l.Source != "standard_allowance" || l.Confidence > 0.5 || l.TakeoffQty <= 0 || l.CodeSource == ByDefault {
			t.Errorf("%s: %g %s (%s, %s), confidence %v; want a formula of low confidence", l.Item, l.TakeoffQty, l.TakeoffUnit, l.QuantitySource, l.Source, l.Confidence)
		}
	}
	if all := strings.Join(s.Completeness.Warnings, " "); !strings.Contains(all, "stand in") {
		t.Errorf("warnings %q, want the lines that stand in", all)
	}
	if s.Class < 4 {
		t.Errorf("class %d from type and size alone, want 4 or 5", s.Class)
	}
	if s.Divisions[8].Status != estimate.NotApplicable || s.TotalItems != len(d.Items) {
		t.Errorf("%d lines, want those of division 06 alone", s.TotalItems)
	}
}

// Work that another division has, or leaves out, is not added a second time.
func TestFilledDoesNotDouble(t *testing.T) {
	t.Parallel()
	has := func(c *estimate.Clarification, prefix string) bool {
		s := Take(c, nil)
		for _, l := range s.Divisions[5].Items {
			if strings.HasPrefix(l.CostCode, prefix) {
				return true
			}
		}
		return false
	}
	if !has(kitchen("06"), "0641") {
		t.Fatal("a thin division 06 has no cabinets")
	}
	filed := kitchen("06")
	set(filed, "12", item("x", "Base cabinets, semi-custom", 20, "lf"))
	if has(filed, "0641") {
		t.Error("cabinets that are filed in division 12 are priced again in 06")
	}
	owner := kitchen("06")
	set(owner, "12", item("x", "Base cabinets, semi-custom", 20, "lf"))
	d := owner.Scope["div12_furnishings"]
	d.Status = estimate.ByOwner
	owner.Scope["div12_furnishings"] = d
	if has(owner, "0641") {
		t.Error("cabinets by owner in division 12 are priced in 06")
	}
	excluded := kitchen("06")
	excluded.Brief.Exclusions = []string{"Base cabinets"}
	if s := Take(excluded, nil); len(s.Divisions[5].OwnerItems) == 0 {
		t.Error("an exclusion of the brief does not bind a line that was filled in")
	}
}

func TestFilledTwiceIsFilledOnce(t *testing.T) {
	t.Parallel()
	once := Filled(kitchen("06"))
	if twice := Filled(once); twice != once {
		t.Error("Filled of a filled scope is another scope")
	}
	full := kitchen("06", item("x", "Crown molding", 20, "lf"))
	if Filled(full) != full {
		t.Error("Filled of a scope with lines is another scope")
	}
	unknown := kitchen("06")
	unknown.Brief.ProjectType, unknown.Brief.Summary.Description = "other", "Something nobody has a word for"
	if Filled(unknown) != unknown {
		t.Error("Filled of a job of no known kind is another scope")
	}
}
