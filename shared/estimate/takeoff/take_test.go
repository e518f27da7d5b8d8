package takeoff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// kitchen is a small job: one room of 16 by 12.5 ft with a door, and the given
// lines in one division.
func kitchen(division string, items ...estimate.ScopeItem) *estimate.Clarification {
	c := &estimate.Clarification{
		Brief: estimate.Brief{
			ProjectType: "kitchen_remodel",
			Summary:     estimate.Summary{Description: "Full remodel with new cabinets", Sqft: 200, Finish: "mid_range", Complexity: "moderate"},
		},
		Scope: map[string]estimate.ScopeDivision{},
		CAD: estimate.CAD{Space: estimate.SpaceModel{
			Scale: estimate.Scale{Detected: true},
			Rooms: []estimate.Room{{ID: "r1", Type: "kitchen", Sqft: 200, Dimensions: estimate.Dimensions{Length: 16, Width: 12.5, Height: 8}}},
			Openings: []estimate.Opening{
				{Type: "door", Width: 3, Height: 6.67}, {Type: "window", Width: 3, Height: 4},
			},
		}},
	}
	for _, d := range catalog.Divisions() {
		status := estimate.NotApplicable
		if d.Code == division {
			status = estimate.Included
		}
		c.Scope[d.Key] = estimate.ScopeDivision{Code: d.Code, Name: d.Name, Status: status}
	}
	set(c, division, items...)
	return c
}

func set(c *estimate.Clarification, division string, items ...estimate.ScopeItem) {
	for _, d := range catalog.Divisions() {
		if d.Code != division {
			continue
		}
		sd := c.Scope[d.Key]
		sd.Status, sd.Items = estimate.Included, items
		c.Scope[d.Key] = sd
	}
}

func item(id, name string, quantity float64, unit estimate.Unit) estimate.ScopeItem {
	return estimate.ScopeItem{ID: id, Item: name, Quantity: quantity, Unit: unit, Confidence: 0.9, Source: "user_input"}
}

// lineOf returns the line with an id.
func lineOf(t testing.TB, s *estimate.Scope, id string) estimate.ScopeLine {
	t.Helper()
	for _, d := range s.Divisions {
		for _, l := range d.Items {
			if l.ID == id {
				return l
			}
		}
	}
	t.Fatalf("no line %s", id)
	return estimate.ScopeLine{}
}

func TestTakeConvertsQuantities(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		division string
		in       estimate.ScopeItem
		code     string
		qty      float64
		unit     estimate.Unit
		source   string
		verdict  string
		note     string
	}{
		{"the same unit", "12", item("x", "Quartz countertop", 67, "sf"), "123640.10", 67, "sf", Stated, Estimated, ""},
		{"square yards to square feet", "09", item("x", "Broadloom carpet with pad", 20, "sy"), "096816.10", 180, "sf", Stated, Validated, "floor"},
		{"square feet to squares", "07", item("x", "Architectural asphalt shingles", 2400, "sf"), "073113.10", 24, "sq", Stated, Estimated, ""},
		{"days to hours", "01", item("x", "Site superintendent", 5, "day"), "013100.10", 40, "hr", Stated, Estimated, ""},
		{"lengths of countertop by rule", "12", item("x", "Quartz countertop", 20, "lf"), "123640.10", 42.5, "sf", Formula, Estimated, "25.5 in deep"},
		{"lengths of wall by the height of the room", "09", item("x", "Drywall walls", 40, "lf"), "092900.10", 320, "sf", Formula, Validated, "as high as the room"},
		{"yards of slab by its thickness", "03", item("x", "Concrete slab on grade", 2, "cy"), "033053.30", 162, "sf", Formula, Estimated, "4 in thick"},
		{"a set is one", "10", item("x", "Bath accessory set", 2, "set"), "102800.10", 2, "ea", Formula, Estimated, "a set counts as one"},
		{"dollars", "26", item("x", "Lighting allowance", 2500, "allowance"), "", 2500, "allowance", Allowance, Estimated, "amount of dollars"},
		{"a lump of pieces", "11", item("x", "Dishwasher", 1, "ls"), "113013.12", 1, "ea", Allowance, Estimated, ""},
		{"a lump of measured work", "12", item("x", "Laminate countertop", 1, "ls"), "123623.10", 36, "lf", Formula, NeedsVerification, "usual for kitchen major of 200 sf"},
		{"no quantity", "12", item("x", "Quartz countertop", 0, "sf"), "123640.10", 0, "sf", Stated, NeedsVerification, "no quantity"},
		{"an unknown unit", "12", item("x", "Quartz countertop", 3, "slab"), "GEN-12-001", 3, "ls", Stated, NeedsVerification, `"slab" is not known`},
		{"nothing like it", "13", item("x", "Orrery", 1, "ea"), "GEN-13-001", 1, "ea", Stated, NeedsVerification, "default of the division"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := Take(kitchen(tt.division, tt.in), nil)
			l := lineOf(t, &s, "x")
			if tt.code != "" && l.CostCode != tt.code {
				t.Errorf("code %s (%s), want %s", l.CostCode, l.CodeName, tt.code)
			}
			if l.TakeoffQty != tt.qty || l.TakeoffUnit != tt.unit || l.QuantitySource != tt.source {
				t.Errorf("took %g %s (%s), want %g %s (%s)", l.TakeoffQty, l.TakeoffUnit, l.QuantitySource, tt.qty, tt.unit, tt.source)
			}
			if l.Validation != tt.verdict || !strings.Contains(l.ValidationNote, tt.note) {
				t.Errorf("verdict %s %q, want %s with %q", l.Validation, l.ValidationNote, tt.verdict, tt.note)
			}
		})
	}
}

func TestTakeChecksAgainstTheDrawing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		division string
		in       estimate.ScopeItem
		verdict  string
		note     string
	}{
		{"floor as drawn", "09", item("x", "Engineered hardwood floor", 205, "sf"), Validated, "stated 205 sf"},
		{"floor twice", "09", item("x", "Engineered hardwood floor", 400, "sf"), Discrepancy, "stated 400 sf, drawing 170 to 220"},
		{"half a floor", "09", item("x", "Engineered hardwood floor", 90, "sf"), Discrepancy, "stated 90 sf"},
		{"ceiling as drawn", "09", item("x", "Drywall ceiling", 200, "sf"), Validated, "ceiling"},
		{"walls less the door", "09", item("x", "Drywall walls", 430, "sf"), Validated, "wall board"},
		{"more wall than there is", "09", item("x", "Paint walls, two coats", 1000, "sf"), Discrepancy, "wall paint"},
		{"a part of the walls", "09", item("x", "Drywall walls", 100, "sf"), Estimated, "a part of it is meant"},
		{"base trim", "06", item("x", "Baseboard", 54, "lf"), Validated, "base trim"},
		{"one window", "08", item("x", "Vinyl replacement window", 1, "ea"), Validated, "windows"},
		{"three windows in one opening", "08", item("x", "Vinyl replacement window", 3, "ea"), Discrepancy, "stated 3 ea, drawing 1"},
		{"what the drawing cannot tell", "26", item("x", "Recessed LED light", 8, "ea"), Estimated, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := Take(kitchen(tt.division, tt.in), nil)
			l := lineOf(t, &s, "x")
			if l.Validation != tt.verdict || !strings.Contains(l.ValidationNote, tt.note) {
				t.Errorf("%s %q, want %s with %q", l.Validation, l.ValidationNote, tt.verdict, tt.note)
			}
			c := kitchen(tt.division, tt.in)
			c.CAD.Space.Scale.Detected = false
			unscaled := Take(c, nil)
			if l := lineOf(t, &unscaled, "x"); l.Validation != Estimated {
				t.Errorf("without a scale: %s, want %s", l.Validation, Estimated)
			}
		})
	}
}

func TestTwoFloorsAreOneFloor(t *testing.T) {
	t.Parallel()
	s := Take(kitchen("09", item("a", "Porcelain floor tile", 60, "sf"), item("b", "Engineered hardwood floor", 140, "sf")), nil)
	for _, id := range []string{"a", "b"} {
		if l := lineOf(t, &s, id); l.Validation != Validated {
			t.Errorf("%s: %s %q, want %s", id, l.Validation, l.ValidationNote, Validated)
		}
	}
}

func TestExclusionsOfTheBrief(t *testing.T) {
	t.Parallel()
	tests := []struct {
		exclusion, line string
		priced          bool
	}{
		{"Appliances", "Gas range, freestanding", false},
		{"Appliances (by owner)", "Dishwasher", false},
		{"Appliances", "Dedicated circuit for dishwasher", true},
		{"Permit fees (by owner)", "Quartz countertop", true},
		{"Painting of ceilings", "Paint ceiling", false},
		{"Painting of ceilings", "Paint walls", true},
		{"Window treatments", "Vinyl window", true},
		{"Flooring in the dining room", "Engineered hardwood floor", true},
		{"Exterior work other than the hood termination", "Vented range hood", true},
		{"Windows", "Sealant at countertop and window", true},
		{"Windows", "Vinyl replacement window", false},
		{"Backsplash", "Tile backsplash", false},
		{"Dishwasher installation", "Dishwasher", true},
	}
	for _, tt := range tests {
		t.Run(tt.exclusion+"/"+tt.line, func(t *testing.T) {
			t.Parallel()
			c := kitchen("11", item("x", tt.line, 1, "ea"))
			c.Brief.Exclusions = []string{tt.exclusion}
			s := Take(c, nil)
			if got := s.TotalItems == 1; got != tt.priced {
				t.Errorf("priced = %t, want %t; not priced: %q", got, tt.priced, s.Divisions[10].OwnerItems)
			}
			if !tt.priced && !strings.Contains(strings.Join(s.Divisions[10].OwnerItems, ""), tt.exclusion) {
				t.Errorf("the line is not shown with its exclusion: %q", s.Divisions[10].OwnerItems)
			}
			if len(s.Exclusions) != 1 {
				t.Errorf("exclusions %q, want the one of the brief", s.Exclusions)
			}
		})
	}
}

func TestExcludedInstallationKeepsTheMaterial(t *testing.T) {
	t.Parallel()
	c := kitchen("11", item("x", "Dishwasher", 1, "ea"), item("y", "Vented range hood", 1, "ea"))
	c.Brief.Exclusions = []string{"Dishwasher installation by owner"}
	s := Take(c, nil)
	x, y := lineOf(t, &s, "x"), lineOf(t, &s, "y")
	if x.LaborHours != 0 || x.MaterialCost == 0 {
		t.Errorf("dishwasher: %v hours, material %v; want material without labor", x.LaborHours, x.MaterialCost)
	}
	if y.LaborHours == 0 {
		t.Errorf("hood: no hours; only the dishwasher's installation is excluded")
	}
}

func TestDivisionsNotIncludedCostNothing(t *testing.T) {
	t.Parallel()
	for _, status := range []string{estimate.Excluded, estimate.ByOwner, estimate.NotApplicable} {
		c := kitchen("12", item("x", "Quartz countertop", 40, "sf"))
		d := c.Scope["div12_furnishings"]
		d.Status = status
		c.Scope["div12_furnishings"] = d
		s := Take(c, nil)
		if s.TotalItems != 0 || s.MaterialCost != 0 || s.LaborHours != 0 {
			t.Errorf("%s: %d lines, %v, %v hours; want nothing", status, s.TotalItems, s.MaterialCost, s.LaborHours)
		}
		if diff := cmp.Diff([]string{"Quartz countertop"}, s.Divisions[11].OwnerItems); diff != "" {
			t.Errorf("%s: not priced items (-want +got):\n%s", status, diff)
		}
	}
}

func TestPermitLinesAreNotPaidTwice(t *testing.T) {
	t.Parallel()
	s := Take(kitchen("01", item("x", "Building permit and fees", 1200, "allowance"), item("y", "Permit drawings", 200, "sf")), nil)
	if s.TotalItems != 1 || len(s.Divisions[0].OwnerItems) != 1 || !LeftOut(s.Divisions[0].OwnerItems[0], "Building permit and fees") {
		t.Errorf("%d lines, not priced %q; want the drawings priced and the permit left to the fees", s.TotalItems, s.Divisions[0].OwnerItems)
	}
	if len(s.Completeness.Warnings) == 0 {
		t.Error("the stated amount is dropped without a warning")
	}
}

func TestFlagsAreHeard(t *testing.T) {
	t.Parallel()
	c := kitchen("12", item("x", "Quartz countertop", 40, "sf"), item("y", "Granite countertop", 30, "sf"))
	c.Flags.LowConfidence = []estimate.LowConfidence{{Field: "csiScope.div12_furnishings.items[0]", Confidence: 0.4, Reason: "not chosen yet"}}
	s := Take(c, nil)
	x, y := lineOf(t, &s, "x"), lineOf(t, &s, "y")
	if x.Validation != NeedsVerification || !strings.Contains(x.ValidationNote, "not chosen yet") || x.Confidence >= y.Confidence {
		t.Errorf("flagged line: %s %q, confidence %v against %v", x.Validation, x.ValidationNote, x.Confidence, y.Confidence)
	}
}

func TestFinishLevelPicksThePrice(t *testing.T) {
	t.Parallel()
	price := func(finish string) float64 {
		c := kitchen("12", item("x", "Quartz countertop", 40, "sf"))
		c.Brief.Summary.Finish = finish
		s := Take(c, nil)
		return lineOf(t, &s, "x").MaterialPerUnit.Float()
	}
	it := catalog.ItemByCode("123640.10")
	if got := price("mid_range"); got != it.MatTyp {
		t.Errorf("mid-range price = %v, want %v", got, it.MatTyp)
	}
	if got := price("luxury"); got != it.MatHigh {
		t.Errorf("luxury price = %v, want %v", got, it.MatHigh)
	}
	last := 0.0
	for _, finish := range []string{"budget", "mid_range", "high_end", "luxury"} {
		if got := price(finish); got < last {
			t.Errorf("price at %s = %v, below the level before (%v)", finish, got, last)
		} else {
			last = got
		}
	}
}

// TestMoreIsNeverCheaper: a larger quantity of the same line never has less
// material or fewer hours, whatever line and unit.
func TestMoreIsNeverCheaper(t *testing.T) {
	t.Parallel()
	items := catalog.Items()
	rapid.Check(t, func(t *rapid.T) {
		it := items[rapid.IntRange(0, len(items)-1).Draw(t, "item")]
		unit := rapid.SampledFrom([]estimate.Unit{"ea", "lf", "sf", "cy", "sq", "hr", "day", "set", estimate.Unit(it.Unit)}).Draw(t, "unit")
		few := rapid.Float64Range(0.1, 500).Draw(t, "few")
		more := few + rapid.Float64Range(0.1, 500).Draw(t, "more")
		a := Take(kitchen(it.Division, item("x", it.Name, few, unit)), nil)
		b := Take(kitchen(it.Division, item("x", it.Name, more, unit)), nil)
		if a.MaterialCost > b.MaterialCost || a.LaborHours > b.LaborHours {
			t.Fatalf("%g %s of %s: %v and %v h; %g: %v and %v h", few, unit, it.Name, a.MaterialCost, a.LaborHours, more, b.MaterialCost, b.LaborHours)
		}
	})
}

// TestUnitsDoNotChangeTheCost: one quantity in two units of a dimension is the
// same work.
func TestUnitsDoNotChangeTheCost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		squares := float64(rapid.IntRange(1, 60).Draw(t, "squares"))
		name := rapid.SampledFrom([]string{"Architectural asphalt shingles", "Synthetic underlayment", "Ice and water membrane"}).Draw(t, "item")
		a := Take(kitchen("07", item("x", name, squares, "sq")), nil)
		b := Take(kitchen("07", item("x", name, squares*100, "sf")), nil)
		if a.MaterialCost != b.MaterialCost || a.LaborHours != b.LaborHours {
			t.Fatalf("%g squares: %v, %v h; in sf: %v, %v h", squares, a.MaterialCost, a.LaborHours, b.MaterialCost, b.LaborHours)
		}
	})
}

// TestEveryItemIsFoundByItsOwnName: the catalogue's name in the item's own
// section leads back to the item.
func TestEveryItemIsFoundByItsOwnName(t *testing.T) {
	t.Parallel()
	g := measure(kitchen("01"), nil)
	for _, it := range catalog.Items() {
		line := item("x", it.Name, 1, estimate.Unit(it.Unit))
		line.Subdivision = it.Section
		if m := find(&line, it.Division, g, Correction{}); m.item.Code != it.Code {
			t.Errorf("find(%q in %s) = %s %s, want %s", it.Name, it.Section, m.item.Code, m.item.Name, it.Code)
		}
	}
}

func TestTakeOfNothing(t *testing.T) {
	t.Parallel()
	s := Take(&estimate.Clarification{}, nil)
	if len(s.Divisions) != 24 || s.TotalItems != 0 || s.Class != 5 || s.Summary == "" {
		t.Errorf("Take of an empty clarification: %d divisions, %d lines, class %d", len(s.Divisions), s.TotalItems, s.Class)
	}
}

func BenchmarkTakeKitchen(b *testing.B) {
	var items []estimate.ScopeItem
	for i, it := range catalog.Items()[:50] {
		items = append(items, item(string(rune('a'+i)), it.Name, 10, estimate.Unit(it.Unit)))
	}
	c := kitchen("06", items...)
	b.ReportAllocs()
	for b.Loop() {
		Take(c, nil)
	}
}
