package takeoff

import (
	"strings"
	"testing"

	"truecost.dev/shared/estimate"
)

// TestFindInOtherWords matches lines as estimators and owners write them, with
// and without a section, to the item they mean.
func TestFindInOtherWords(t *testing.T) {
	t.Parallel()
	tests := []struct{ division, section, item, unit, want string }{
		{"01", "", "Site supervision", "day", "013100.10"},
		{"01", "01 56 00", "Ram board floor protection", "sf", "015600.10"},
		{"01", "01 74 00", "Daily cleanup", "day", "017400.10"},
		{"01", "01 74 00", "Final clean", "sf", "017400.20"},
		{"01", "", "30 yard roll-off dumpster", "ea", "017400.32"},
		{"01", "", "Temporary kitchen setup", "ls", "015000.10"},
		{"02", "02 41 19", "Demo upper and lower cabinets", "lf", "024119.10"},
		{"02", "02 41 19", "Demo countertops", "lf", "024119.11"},
		{"02", "02 41 19", "Demolition of existing flooring", "sf", "024119.13"},
		{"02", "", "Tear out ceramic floor tile", "sf", "024119.14"},
		{"02", "02 41 19", "Drywall removal", "sf", "024119.17"},
		{"02", "", "Remove non-load-bearing wall", "sf", "024119.18"},
		{"02", "02 41 19", "Disconnect plumbing fixtures", "ea", "024119.12"},
		{"02", "02 41 00", "Old appliances: remove and haul away", "ea", "024119.28"},
		{"02", "", "Demolish existing deck", "sf", "024119.26"},
		{"02", "", "Asbestos testing", "ea", "028200.10"},
		{"03", "03 30 00", "Concrete footings", "lf", "033053.10"},
		{"03", "", "4\" concrete slab on grade", "sf", "033053.30"},
		{"03", "", "Sonotube piers", "ea", "033053.40"},
		{"06", "06 41 00", "Base cabinets", "lf", "064100.20"},
		{"06", "06 41 00", "Upper cabinets", "lf", "064100.21"},
		{"12", "12 35 30", "Kitchen base cabinetry", "lf", "064100.20"},
		{"06", "06 41 00", "Kitchen island cabinet", "ea", "064100.40"},
		{"06", "06 41 00", "Pantry cabinet", "ea", "064100.41"},
		{"06", "06 22 00", "Crown moulding", "lf", "062000.12"},
		{"06", "06 22 00", "Baseboard, 5 1/4 inch MDF", "lf", "062000.10"},
		{"06", "06 22 00", "Quarter round", "lf", "062000.13"},
		{"06", "", "Interior wall framing 2x4", "sf", "061100.11"},
		{"06", "", "Composite decking", "sf", "061533.21"},
		{"06", "06 73 00", "Trex deck boards", "sf", "061533.21"},
		{"06", "", "Subfloor replacement", "sf", "061600.12"},
		{"06", "", "Vanity, 36 inch", "ea", "064100.60"},
		{"07", "", "R-19 batt insulation in walls", "sf", "072100.10"},
		{"07", "", "Attic insulation blown cellulose", "sf", "072100.13"},
		{"07", "07 31 13", "Architectural shingles", "sq", "073113.10"},
		{"07", "", "Tyvek", "sf", "072500.10"},
		{"07", "", "Hardie lap siding", "sf", "074646.10"},
		{"07", "", "Seamless gutters", "lf", "077123.10"},
		{"08", "", "Interior prehung door, hollow core", "ea", "081416.10"},
		{"08", "", "Double-hung vinyl windows", "ea", "085313.11"},
		{"08", "", "Sliding glass door", "ea", "083200.10"},
		{"08", "", "Cabinet knobs", "ea", "087100.20"},
		{"08", "", "Frameless glass shower enclosure", "ea", "088100.10"},
		{"09", "09 64 00", "Engineered wood flooring", "sf", "096400.11"},
		{"09", "09 60 00", "Flooring underlayment", "sf", "096000.10"},
		{"09", "", "LVP flooring", "sf", "096519.10"},
		{"09", "", "Luxury vinyl plank", "sf", "096519.10"},
		{"09", "09 91 00", "Paint walls - 2 coats", "sf", "099123.10"},
		{"09", "09 91 00", "Paint ceiling - 2 coats", "sf", "099123.11"},
		{"09", "", "Paint baseboards and casing", "lf", "099123.12"},
		{"09", "09 29 00", "Drywall patch and repair", "ea", "092900.20"},
		{"09", "", "Sheetrock, hang and finish walls", "sf", "092900.10"},
		{"09", "", "Drywall ceiling", "sf", "092900.11"},
		{"09", "09 30 00", "Subway tile backsplash", "sf", "093013.12"},
		{"09", "09 30 00", "Tile mortar and grout", "sf", "093013.25"},
		{"09", "", "Porcelain floor tile", "sf", "093013.10"},
		{"09", "", "Shower wall tile", "sf", "093013.11"},
		{"09", "", "Cement board", "sf", "092900.13"},
		{"09", "", "Wall-to-wall carpet", "sf", "096816.10"},
		{"10", "10 28 00", "Toilet paper holder", "ea", "102800.14"},
		{"10", "10 28 00", "Medicine cabinet", "ea", "102800.11"},
		{"11", "11 31 00", "Refrigerator, French door, stainless", "ea", "113013.11"},
		{"11", "11 31 00", "Gas range 30 inch", "ea", "113013.10"},
		{"11", "11 31 00", "Dishwasher", "ea", "113013.12"},
		{"11", "11 31 00", "Range hood", "ea", "113013.14"},
		{"11", "11 31 00", "Microwave drawer", "ea", "113013.24"},
		{"12", "12 36 00", "Granite countertops", "sf", "123640.11"},
		{"12", "12 36 00", "Quartz countertops, 3 cm", "sf", "123640.10"},
		{"12", "", "Laminate countertop", "lf", "123623.10"},
		{"22", "22 41 00", "Kitchen faucet", "ea", "224139.10"},
		{"22", "22 41 00", "Undermount sink", "ea", "224116.22"},
		{"22", "", "Garbage disposal", "ea", "113013.15"},
		{"22", "", "Sink drain assembly", "ea", "221316.30"},
		{"22", "", "Supply lines and shutoff valves", "ea", "221116.40"},
		{"22", "", "Ice maker line", "ea", "221116.50"},
		{"22", "22 40 00", "Elongated toilet", "ea", "224113.10"},
		{"22", "", "Alcove bathtub", "ea", "224119.10"},
		{"22", "", "Tankless water heater", "ea", "223313.13"},
		{"22", "", "Bathroom faucet", "ea", "224139.11"},
		{"23", "", "Bathroom exhaust fan, 110 CFM", "ea", "233423.10"},
		{"23", "", "Mini-split heat pump, single zone", "ea", "238129.10"},
		{"23", "", "Supply register", "ea", "233713.10"},
		{"26", "", "6 inch recessed can lights", "ea", "265100.10"},
		{"26", "", "Under-cabinet LED lighting", "lf", "265100.12"},
		{"26", "", "GFCI outlets", "ea", "262726.11"},
		{"26", "", "Duplex outlets", "ea", "262726.10"},
		{"26", "", "Dimmer switches", "ea", "262726.12"},
		{"26", "", "200 amp panel upgrade", "ea", "262416.10"},
		{"26", "", "Dedicated circuit for microwave", "ea", "262726.13"},
		{"26", "", "Pendant lights", "ea", "265100.11"},
		{"28", "", "Smoke detectors", "ea", "283100.10"},
		{"31", "", "Excavate for crawlspace", "cy", "312316.10"},
		{"31", "", "Rough grading", "sf", "312200.10"},
		{"32", "", "Paver walkway", "sf", "321413.10"},
		{"32", "", "Cedar privacy fence", "lf", "323100.10"},
		{"33", "", "Sewer line replacement", "lf", "333100.10"},
		{"02", "", "Dumpster rental, 20 yard", "ea", "017400.31"},
		{"09", "", "Popcorn ceiling removal", "sf", "024119.17"},
		{"07", "", "Metal roofing", "sq", "074113.10"},
		{"06", "", "Fireplace mantel", "ea", "064000.20"},
		{"22", "", "Dishwasher hookup", "ea", "221116.55"},
		{"22", "", "Gas line to range", "lf", "221116.35"},
		{"22", "", "Gas line for range", "ea", "221116.30"},
		{"26", "", "Sub panel, 100 amp", "ea", "262416.12"},
		{"27", "", "Ethernet drops", "ea", "271500.10"},
		{"08", "", "Barn door", "ea", "081416.12"},
		{"06", "", "Wainscoting", "sf", "064200.10"},
		{"11", "", "Wine cooler", "ea", "113013.16"},
	}
	g := measure(&estimate.Clarification{}, nil)
	wrong := 0
	for _, tt := range tests {
		line := &estimate.ScopeItem{Item: tt.item, Subdivision: tt.section, Quantity: 2, Unit: estimate.Unit(tt.unit)}
		m := find(line, tt.division, g, Correction{})
		if m.item.Code != tt.want {
			wrong++
			t.Errorf("find(%q in %s) = %s %s (%s %.2f), want %s", tt.item, tt.division, m.item.Code, m.item.Name, m.source, m.confidence, tt.want)
		}
	}
	t.Logf("%d of %d wrong", wrong, len(tests))
}

func TestFindKeepsToTheUnit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		item, unit, division string
		want                 string // code, or GEN
		note                 string
	}{
		{"Quartz countertop", "sf", "12", "123640.10", ""},
		{"Quartz countertop", "lf", "12", "123640.10", ""}, // by rule: 25.5 in deep
		{"Quartz countertop", "cy", "12", "GEN-12-001", "cannot be brought"},
		{"Engineered hardwood floor", "lb", "09", "GEN-09-001", "cannot be brought"},
		{"Flux capacitor", "ea", "26", "GEN-26-001", "no catalogue item"},
	}
	g := measure(&estimate.Clarification{}, nil)
	for _, tt := range tests {
		m := find(&estimate.ScopeItem{Item: tt.item, Quantity: 10, Unit: estimate.Unit(tt.unit)}, tt.division, g, Correction{})
		if m.item.Code != tt.want || !strings.Contains(m.note, tt.note) {
			t.Errorf("find(%q, %s) = %s %q, want %s with %q", tt.item, tt.unit, m.item.Code, m.note, tt.want, tt.note)
		}
	}
}

func TestFindAvoidsWhatACriticRejected(t *testing.T) {
	t.Parallel()
	g := measure(&estimate.Clarification{}, nil)
	line := &estimate.ScopeItem{Item: "Quartz countertop", Quantity: 40, Unit: estimate.SquareFoot}
	first := find(line, "12", g, Correction{})
	second := find(line, "12", g, Correction{Avoid: []string{first.item.Code}})
	if second.item.Code == first.item.Code || !strings.HasPrefix(second.item.Code, "1236") {
		t.Errorf("find avoiding %s = %s, want another countertop", first.item.Code, second.item.Code)
	}
}

// FuzzFind: whatever a line says, it gets an item of the catalogue or the
// default of its division, and a quantity that is a number.
func FuzzFind(f *testing.F) {
	f.Add("Base cabinets, semi-custom", "06 41 00", "lf", 17.0)
	f.Add("for the: at, (", "x", "ls", 2500.0)
	f.Add("", "", "", 0.0)
	f.Add("200 amp × 3/4 R-19 à la carte", "260000", "EA", 1e9)
	g := measure(&estimate.Clarification{}, nil)
	f.Fuzz(func(t *testing.T, text, section, unit string, quantity float64) {
		if !(quantity >= 0 && quantity <= 1e9) {
			t.Skip("intake lets no such quantity in")
		}
		line := &estimate.ScopeItem{Item: text, Subdivision: section, Unit: estimate.Unit(unit), Quantity: quantity}
		m := find(line, "09", g, Correction{})
		if m.item == nil || m.confidence < 0 || m.confidence > 1 {
			t.Fatalf("find(%q) = %+v", text, m)
		}
		if q, ok := take(line, m.item, g); ok && !(q.quantity >= 0) {
			t.Errorf("take(%v %q as %s) = %v", quantity, unit, m.item.Code, q.quantity)
		}
	})
}
