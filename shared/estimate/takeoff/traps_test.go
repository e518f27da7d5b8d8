package takeoff

import (
	"strings"
	"testing"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// TestFindTraps: lines that share a section, a word or a unit with a wrong item.
// want is a code, or GEN for the default of the division.
func TestFindTraps(t *testing.T) {
	t.Parallel()
	tests := []struct{ division, section, item, unit, want string }{
		// Appliances of one section at their own prices.
		{"11", "11 31 00", "Refrigerator", "ea", "113013.11"},
		{"11", "11 31 00", "Slide-in electric range", "ea", "113013.10"},
		{"11", "11 31 00", "Built-in microwave", "ea", "113013.13"},
		{"11", "11 31 00", "Over-the-range microwave", "ea", "113013.13"},
		{"11", "11 31 00", "Vent hood, 30 inch stainless", "ea", "113013.14"},
		{"11", "11 31 00", "Garbage disposal, 3/4 HP", "ea", "113013.15"},
		{"11", "11 31 00", "Beverage fridge under counter", "ea", "113013.16"},
		{"11", "11 31 00", "Built-in refrigerator, panel ready", "ea", "113013.20"},
		{"11", "11 31 00", "Double wall oven", "ea", "113013.22"},
		{"11", "11 31 00", "Washer and dryer set", "ea", "113013.30"},
		// What lies under the tile or the wood is not the tile or the wood.
		{"09", "09 30 00", "Thinset for floor tile", "sf", "093013.25"},
		{"09", "09 30 00", "Grout and mortar", "sf", "093013.25"},
		{"09", "09 30 00", "Grout sealer for tile", "sf", "093013.24"},
		{"09", "09 64 00", "Underlayment for hardwood floor", "sf", "096000.10"},
		{"09", "09 64 00", "Refinish existing hardwood", "sf", "096400.12"},
		{"09", "09 30 00", "Cement board under tile", "sf", "092900.13"},
		{"09", "09 30 00", "Waterproof membrane behind shower tile", "sf", "093013.21"},
		{"09", "09 30 00", "Heated floor mat under tile", "sf", "093013.23"},
		{"09", "09 30 00", "Schluter edge trim for tile", "lf", "093013.14"},
		{"09", "09 30 00", "Shampoo niche, tiled", "ea", "093013.22"},
		// Cabinets that are sold by the piece, and by the foot.
		{"06", "06 41 00", "Island cabinets", "ea", "064100.40"},
		{"06", "06 41 00", "Custom island", "ea", "064100.42"},
		{"06", "06 41 00", "Tall pantry", "ea", "064100.41"},
		{"06", "06 41 00", "Base cabinets, custom", "lf", "064100.30"},
		{"06", "06 41 00", "Base cabinets, stock", "lf", "064100.10"},
		{"06", "06 41 00", "Wall cabinets, semi-custom", "lf", "064100.21"},
		{"06", "06 41 00", "Reface kitchen cabinets", "lf", "064100.50"},
		{"06", "06 41 00", "Pull-out trash in base cabinet", "ea", "064100.80"},
		{"06", "06 41 00", "Filler panel", "ea", "064100.43"},
		{"06", "06 10 00", "Blocking for wall cabinets", "ea", "061100.20"},
		{"08", "08 71 00", "Cabinet pulls", "ea", "087100.20"},
		// Walls and ceilings, cleaning every day and once.
		{"09", "09 91 00", "Paint ceilings", "sf", "099123.11"},
		{"09", "09 91 00", "Paint walls", "sf", "099123.10"},
		{"09", "09 91 00", "Prime and paint new drywall", "sf", "099123.14"},
		{"09", "09 91 00", "Paint interior doors", "ea", "099123.13"},
		{"09", "09 29 00", "5/8 drywall on ceiling", "sf", "092900.11"},
		{"09", "09 29 00", "Moisture-resistant drywall", "sf", "092900.12"},
		{"09", "09 29 00", "Skim coat walls", "sf", "092900.21"},
		{"01", "01 74 00", "Post-construction clean", "sf", "017400.20"},
		{"01", "01 74 00", "Progress cleaning", "day", "017400.10"},
		// Removal is never the thing, nor the thing its removal.
		{"02", "02 41 19", "Remove base and wall cabinets", "lf", "024119.10"},
		{"02", "02 41 19", "Remove tile backsplash", "sf", "024119.15"},
		{"02", "02 41 19", "Remove hardwood", "sf", "024119.16"},
		{"02", "02 41 19", "Remove old windows", "ea", "024119.20"},
		{"08", "08 53 00", "Replace windows, vinyl double hung", "ea", "085313.11"},
		// The section is wrong, or of another edition; the words are right.
		{"12", "12 32 00", "Base cabinets, semi-custom", "lf", "064100.20"},
		{"06", "", "Quartz countertop", "sf", "123640.10"},
		{"22", "", "Refrigerator", "ea", "113013.11"},
		{"10", "", "Bath fan, 80 CFM", "ea", "233423.10"},
		// Spelling.
		{"11", "11 31 00", "Refridgerator, stainless", "ea", "113013.11"}, //nolint:misspell // as people write it
		{"11", "11 31 00", "Dishwaser", "ea", "113013.12"},
		{"11", "11 31 00", "Dish washer", "ea", "113013.12"},
		{"09", "", "Drywal walls", "sf", "092900.10"},
		{"09", "", "Paint cieling", "sf", "099123.11"},
		{"09", "", "Porcelin floor tile", "sf", "093013.10"},
		{"12", "", "Granit countertop", "sf", "123640.11"},
		{"12", "", "Quarz counter top", "sf", "123640.10"},
		{"06", "", "Base board, MDF", "lf", "062000.10"},
		{"22", "", "Toliet, elongated", "ea", "224113.10"},
		{"26", "", "Recesed LED lights", "ea", "265100.10"},
		{"26", "", "Receptical, GFCI", "ea", "262726.11"},
		{"07", "", "Insullation, R-13 batts", "sf", "072100.10"},
		{"08", "", "Exterior entry door, fibreglass", "ea", "081613.20"},
		// Nothing in the catalogue: the default, not the first of the section.
		{"11", "11 31 00", "Espresso station", "ea", "GEN"},
		{"06", "06 41 00", "Harpsichord restoration", "ea", "GEN"},
		{"09", "09 30 13", "Zellige feature", "sf", "GEN"},
		{"22", "22 41 00", "Ozone purifier", "ea", "GEN"},
	}
	g := measure(&estimate.Clarification{}, nil)
	for _, tt := range tests {
		line := &estimate.ScopeItem{Item: tt.item, Subdivision: tt.section, Quantity: 2, Unit: estimate.Unit(tt.unit)}
		m := find(line, tt.division, g, Correction{})
		if got := m.item.Code; got != tt.want && (tt.want != "GEN" || !strings.HasPrefix(got, "GEN-"+tt.division)) {
			t.Errorf("find(%q in %s %s) = %s %s (%s %.2f), want %s", tt.item, tt.division, tt.section, got, m.item.Name, m.source, m.confidence, tt.want)
		}
		if tt.want == "GEN" && m.confidence > 0.3 {
			t.Errorf("find(%q) = a default with confidence %v, want at most 0.3", tt.item, m.confidence)
		}
	}
}

// A code without a word that fits leads to no item, whatever section it names:
// being first in a section is no evidence.
func TestSectionAloneFindsNothing(t *testing.T) {
	t.Parallel()
	g := measure(&estimate.Clarification{}, nil)
	for _, it := range catalog.Items() {
		line := &estimate.ScopeItem{Item: "Qwxzv blorptangle", Subdivision: it.Section, Quantity: 2, Unit: estimate.Unit(it.Unit)}
		if m := find(line, it.Division, g, Correction{}); m.source != ByDefault || m.confidence > 0.3 {
			t.Errorf("find(meaningless words in %s) = %s (%s, %v), want the default of the division", it.Section, m.item.Code, m.source, m.confidence)
		}
	}
}
