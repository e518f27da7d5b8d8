package takeoff

import (
	"testing"

	"truecost.dev/shared/estimate"
)

func TestProjectType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind, finish string
		sqft         float64
		text, want   string
	}{
		{"kitchen_remodel", "mid_range", 200, "Full remodel, new cabinets", "kitchen_major"},
		{"kitchen_remodel", "budget", 150, "Refresh: cabinets stay, reface fronts", "kitchen_minor"},
		{"kitchen_remodel", "luxury", 320, "Custom kitchen", "kitchen_upscale"},
		{"kitchen_remodel", "high_end", 200, "", "kitchen_upscale"},
		{"bathroom_remodel", "mid_range", 40, "Hall bath", "bath_midrange"},
		{"bathroom_remodel", "high_end", 110, "Primary bath", "bath_upscale"},
		{"bathroom_remodel", "mid_range", 50, "Wheelchair accessible, roll-in shower", "bath_universal"},
		{"addition", "mid_range", 400, "Bedroom suite over crawlspace", "primary_suite_mid"},
		{"addition", "luxury", 640, "Primary suite", "primary_suite_upscale"},
		{"addition", "mid_range", 48, "Bathroom addition", "bath_addition_mid"},
		{"deck_patio", "budget", 320, "Treated wood deck", "deck_wood"},
		{"deck_patio", "high_end", 240, "Composite deck", "deck_composite"},
		{"deck_patio", "mid_range", 240, "Composite deck with stairs", "deck_composite"},
		{"deck_patio", "mid_range", 400, "Paver patio", "patio_paver"},
		{"garage", "mid_range", 576, "Detached garage", "garage_new"},
		{"bedroom_remodel", "high_end", 168, "", "bedroom_remodel"},
		{"living_room_remodel", "mid_range", 300, "", "bedroom_remodel"},
		{"basement_finish", "mid_range", 700, "Main room, bath and bar", "basement_finish"},
		{"basement_finish", "mid_range", 700, "Basic rec room only, without bath", "basement_basic"},
		{"attic_conversion", "mid_range", 400, "", "attic_conversion"},
		{"whole_house_remodel", "high_end", 2400, "", "whole_house_remodel"},
		{"other", "mid_range", 2200, "Roof replacement with new architectural shingles", "roof_asphalt"},
		{"other", "high_end", 2200, "Standing seam metal roof", "roof_metal"},
		{"other", "mid_range", 0, "Replace windows with vinyl replacement windows", "windows_vinyl"},
		{"other", "mid_range", 0, "New gas water heater", "water_heater_gas"},
		{"other", "mid_range", 0, "Heat-pump water heater", "water_heater_hp"},
		{"other", "mid_range", 0, "Panel upgrade to 200 A", "panel_200a"},
		{"other", "mid_range", 600, "Detached ADU in the back yard", "adu_detached"},
		{"other", "mid_range", 4000, "Office tenant improvement", "office_ti"},
		{"other", "mid_range", 900, "Something nobody has a word for", "whole_house_remodel"},
		{"", "", 0, "", "whole_house_remodel"},
	}
	for _, tt := range tests {
		c := &estimate.Clarification{Brief: estimate.Brief{ProjectType: tt.kind, Summary: estimate.Summary{Description: tt.text, Finish: tt.finish, Sqft: tt.sqft}}}
		if got := ProjectType(c).Key; got != tt.want {
			t.Errorf("ProjectType(%s, %s, %g sf, %q) = %s, want %s", tt.kind, tt.finish, tt.sqft, tt.text, got, tt.want)
		}
	}
}

func TestBudgetKitchenWithNewCabinetsIsNoRefresh(t *testing.T) {
	t.Parallel()
	c := kitchen("06", item("x", "Base cabinets, stock", 20, "lf"))
	c.Brief.Summary.Finish = "budget"
	if got := ProjectType(c).Key; got != "kitchen_major" {
		t.Errorf("ProjectType = %s, want kitchen_major", got)
	}
}

func TestClassFollowsTheLeastDefined(t *testing.T) {
	t.Parallel()
	measured := item("a", "Engineered hardwood floor", 200, "sf")
	guess := item("b", "Countertop allowance", 4000, "allowance")
	vague := item("c", "Recessed LED light", 8, "ea")
	vague.Source = "inferred"
	tests := []struct {
		name string
		c    *estimate.Clarification
		want int
	}{
		{"a measured line", kitchen("09", measured), 3},
		{"an inferred line", kitchen("26", vague), 4},
		{"an allowance", kitchen("12", guess), 5},
		{"nothing", kitchen("12"), 5},
	}
	for _, tt := range tests {
		if s := Take(tt.c, nil); s.Class != tt.want || s.ClassReason == "" {
			t.Errorf("%s: class %d (%s), want %d", tt.name, s.Class, s.ClassReason, tt.want)
		}
	}
}
