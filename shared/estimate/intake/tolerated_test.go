package intake

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/estimate"
)

const (
	wood  = "csiScope.div06_wood_plastics_composites"
	space = "cadData.spaceModel"
)

// Variants that mean the same give the same clarification and no problem.
func TestParseTolerates(t *testing.T) {
	t.Parallel()
	base, baseReport := mustParse(t, fixture(t, "kitchen.json"))
	tests := []struct {
		name    string
		changes map[string]any
	}{
		{"finish with hyphen", map[string]any{"projectBrief.scopeSummary.finishLevel": "mid-range"}},
		{"finish in words", map[string]any{"projectBrief.scopeSummary.finishLevel": " Mid Range "}},
		{"type in camel case", map[string]any{"projectBrief.projectType": "kitchenRemodel"}},
		{"status in capitals", map[string]any{wood + ".status": "INCLUDED"}},
		{"by-owner", map[string]any{"csiScope.div25_integrated_automation.status": "by-owner"}},
		{"area in a string", map[string]any{"projectBrief.scopeSummary.totalSqft": "200"}},
		{"quantity in a string", map[string]any{wood + ".items[0].quantity": " 17.0 "}},
		{"confidence in a string", map[string]any{wood + ".items[0].confidence": "0.95"}},
		{"unit in words", map[string]any{wood + ".items[0].unit": "Linear Feet"}},
		{"zip+4", map[string]any{"projectBrief.location.zipCode": "80206-1234"}},
		{"zip as a number", map[string]any{"projectBrief.location.zipCode": 80206}},
		{"state in words", map[string]any{"projectBrief.location.state": "colorado"}},
		{"null for an optional text", map[string]any{"projectBrief.location.unit": nil}},
		{"null for a reason", map[string]any{wood + ".exclusionReason": nil}},
		{"no division name", map[string]any{wood + ".name": remove{}}},
		{"division code as a number", map[string]any{wood + ".code": 6}},
		{"division list as numbers", map[string]any{"projectBrief.scopeSummary.excludedDivisions": []any{32, "21", "21"}}},
		{"excluded counted alone", map[string]any{"projectBrief.scopeSummary.totalExcluded": 2}},
		{"count in a string", map[string]any{"projectBrief.scopeSummary.totalIncluded": "14"}},
		{"date-time for a date", map[string]any{"projectBrief.timeline.desiredStart": "2026-05-04T00:00:00Z"}},
		{"unknown members", map[string]any{"inferenceMetadata": map[string]any{"model": "x"}, wood + ".items[0].color": "red"}},
		{"preferences in snake case", map[string]any{
			"projectBrief.costPreferences": map[string]any{"overhead_pct": 0.12, "profit_pct": "0.10", "waste_factor": 1.08},
		}},
		{"preferences at the root", map[string]any{
			"projectBrief.costPreferences": remove{},
			"costPreferences":              map[string]any{"overheadPct": 12, "profitPct": 10, "wasteFactor": 0.08},
		}},
		{"estimate configuration", map[string]any{
			"projectBrief.costPreferences": nil,
			"estimateConfiguration":        map[string]any{"overheadPercent": 12, "profitPercent": 10, "materialWasteFactorPercent": 8},
		}},
		{"costPreferences before estimateConfiguration", map[string]any{
			"estimateConfiguration": map[string]any{"overheadPercent": 40, "contingencyPercent": 3},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, report := mustParse(t, changed(t, "kitchen.json", tt.changes))
			// The two readings of totalExcluded are both right.
			got.Brief.Summary.TotalExcluded = base.Brief.Summary.TotalExcluded
			near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
			if diff := cmp.Diff(base, got, near); diff != "" {
				t.Errorf("clarification (-base +variant):\n%s", diff)
			}
			if diff := cmp.Diff(baseReport.Warnings, report.Warnings); diff != "" {
				t.Errorf("warnings (-base +variant):\n%s", diff)
			}
		})
	}
}

// What a person should look at is reported as a warning, at its path.
func TestParseWarns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path  string
		value any
		want  string
	}{
		{"clarificationStatus", "needs_review", "clarificationStatus NEEDS_REVIEW"},
		{"projectBrief.projectType", "boat house", "projectBrief.projectType INVALID_PROJECT_TYPE"},
		{"projectBrief.scopeSummary.finishLevel", "cheap", "projectBrief.scopeSummary.finishLevel INVALID_FINISH_LEVEL"},
		{"projectBrief.scopeSummary.projectComplexity", remove{}, "projectBrief.scopeSummary.projectComplexity INVALID_COMPLEXITY"},
		{"projectBrief.scopeSummary.totalSqft", -1, "projectBrief.scopeSummary.totalSqft INVALID_SQFT"},
		{"projectBrief.location.zipCode", "10001", "projectBrief.location.zipCode ZIP_STATE_MISMATCH"},
		{"projectBrief.location.coordinates", map[string]any{"lat": 139}, "projectBrief.location.coordinates INVALID_COORDINATES"},
		{"projectBrief.timeline.deadline", "2026-05-01", "projectBrief.timeline.deadline DEADLINE_BEFORE_START"},
		{"projectBrief.timeline.flexibility", "whenever", "projectBrief.timeline.flexibility INVALID_FLEXIBILITY"},
		{"projectBrief.costPreferences.profitPct", -0.1, "projectBrief.costPreferences.profitPct INVALID_PREFERENCE"},
		{"projectBrief.costPreferences.profitPct", 250, "projectBrief.costPreferences.profitPct INVALID_PREFERENCE"},
		{"projectBrief.costPreferences.profitPct", 0.8, "projectBrief.costPreferences.profitPct UNUSUAL_PREFERENCE"},
		{"projectBrief.costPreferences.wasteFactor", 1.9, "projectBrief.costPreferences.wasteFactor UNUSUAL_PREFERENCE"},
		{wood + ".items", []any{}, wood + " EMPTY_INCLUDED_DIVISION"},
		{wood + ".items[0].quantity", 0, wood + ".items[0].quantity ZERO_QUANTITY"},
		{wood + ".items[0].unit", "furlongs", wood + ".items[0].unit UNKNOWN_UNIT"},
		{wood + ".items[0].source", "dream", wood + ".items[0].source INVALID_SOURCE"},
		{"cadData.fileType", "bmp", "cadData.fileType INVALID_FILE_TYPE"},
		{"cadData.extractionMethod", "magic", "cadData.extractionMethod INVALID_EXTRACTION_METHOD"},
		{space + ".scale", nil, space + ".scale SCALE_NOT_DETECTED"},
		{space + ".scale.units", "cubits", space + ".scale.units UNKNOWN_DRAWING_UNITS"},
		{"cadData.spatialRelationships.layoutNarrative", "A kitchen.", "cadData.spatialRelationships.layoutNarrative SHORT_LAYOUT_NARRATIVE"},
		{"cadData.kitchenSpecific", nil, "cadData.kitchenSpecific MISSING_PROJECT_SPECIFIC_DATA"},
		{"conversation.inputMethod", "telepathy", "conversation.inputMethod INVALID_INPUT_METHOD"},
		{"flags.userVerificationRequired", true, "flags.userVerificationRequired USER_VERIFICATION_REQUIRED"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			c, report := mustParse(t, changed(t, "kitchen.json", map[string]any{tt.path: tt.value}))
			if diff := cmp.Diff([]string{tt.want}, codes(report.Warnings)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if len(report.Reasons()) != 1 {
				t.Errorf("Reasons() = %v, want one", report.Reasons())
			}
			checkIdempotent(t, c)
		})
	}
}

// All faults of a document are reported together, in the order of the contract.
func TestParseReportsAllErrorsInOrder(t *testing.T) {
	t.Parallel()
	_, report := Parse(changed(t, "kitchen.json", map[string]any{
		"flags":                               "none",
		"cadData.fileUrl":                     "",
		"csiScope.div26_electrical.status":    "perhaps",
		wood + ".items[2].unit":               "",
		wood + ".items[2].quantity":           -1,
		"projectBrief.location.city":          "",
		"projectBrief.timeline":               remove{},
		"schemaVersion":                       3,
		"conversation.confidenceScore":        7,
		"projectBrief.location.state":         remove{},
		"csiScope.div01_general_requirements": remove{},
	}))
	want := []string{
		"schemaVersion INVALID_SCHEMA_VERSION",
		"projectBrief.location.city INCOMPLETE_LOCATION",
		"projectBrief.location.state INCOMPLETE_LOCATION",
		"projectBrief.timeline MISSING_FIELD",
		"csiScope.div01_general_requirements CSI_DIVISION_MISSING",
		wood + ".items[2].unit INCOMPLETE_LINE_ITEM",
		wood + ".items[2].quantity INVALID_QUANTITY",
		"csiScope.div26_electrical.status INVALID_CSI_STATUS",
		"cadData.fileUrl MISSING_CAD_FILE",
		"conversation.confidenceScore INVALID_CONFIDENCE",
		"flags INVALID_TYPE",
	}
	if diff := cmp.Diff(want, codes(report.Errors)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	// 23 of 24 divisions, more than ten errors, no warning.
	if want := 23.0/24*40 + 0 + 20; math.Abs(report.Completeness-want) > 1e-9 {
		t.Errorf("completeness = %v, want %v", report.Completeness, want)
	}
	if got := report.Coverage; got.Included != 12 || got.Excluded != 2 || got.ByOwner != 1 || got.NotApplicable != 7 ||
		!cmp.Equal(got.Missing, []string{"div01_general_requirements"}) {
		t.Errorf("coverage = %+v", got)
	}
}

// A number that no double holds is refused wherever it stands, once.
func TestParseRefusesNumbersThatOverflow(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"cadData.rawExtraction.scale", "cadData.kitchenSpecific.countertops.totalSqft", "inferenceMetadata",
		wood + ".items[0].quantity", "cadData.spatialRelationships.entryPoints[0]",
	} {
		raw := changed(t, "kitchen.json", map[string]any{path: json.Number("1e999")})
		_, report := Parse(raw)
		if len(report.Errors) != 1 || report.Errors[0].Path != path {
			t.Errorf("1e999 at %s: errors %v, want one there", path, report.Errors)
		}
	}
}

func TestPreferences(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   map[string]any
		want *estimate.Preferences
	}{
		{nil, nil},
		{map[string]any{}, nil},
		{map[string]any{"overheadPct": "lots", "profitPct": -1}, nil},
		{map[string]any{"overheadPct": 0}, &estimate.Preferences{Overhead: new(0.0)}},
		{map[string]any{"overheadPct": 0.25}, &estimate.Preferences{Overhead: new(0.25)}},
		{map[string]any{"overheadPct": 25}, &estimate.Preferences{Overhead: new(0.25)}},
		{map[string]any{"wasteFactor": 0.1}, &estimate.Preferences{Waste: new(1.1)}},
		{map[string]any{"wasteFactor": 1.1}, &estimate.Preferences{Waste: new(1.1)}},
		{map[string]any{"wasteFactor": 10}, &estimate.Preferences{Waste: new(1.1)}},
		{map[string]any{"wasteFactor": 2}, &estimate.Preferences{Waste: new(2.0)}},
		{map[string]any{"contingencyPct": "5", "profit_pct": 8}, &estimate.Preferences{Contingency: new(0.05), Profit: new(0.08)}},
	}
	for _, tt := range tests {
		c, _ := mustParse(t, changed(t, "kitchen.json", map[string]any{"projectBrief.costPreferences": tt.in}))
		if diff := cmp.Diff(tt.want, c.Brief.Preferences); diff != "" {
			t.Errorf("preferences of %v (-want +got):\n%s", tt.in, diff)
		}
	}
}

// In estimateConfiguration every number is a percentage, 0.5 too.
func TestEstimateConfiguration(t *testing.T) {
	t.Parallel()
	c, _ := mustParse(t, changed(t, "deck.json", map[string]any{"estimateConfiguration": map[string]any{
		"overheadPercent": 0.5, "materialWasteFactorPercent": 0, "projectStartDate": "2026-09-01",
	}}))
	want := &estimate.Preferences{Overhead: new(0.005), Waste: new(1.0)}
	if diff := cmp.Diff(want, c.Brief.Preferences); diff != "" {
		t.Errorf("preferences (-want +got):\n%s", diff)
	}
	if c.Brief.Timeline.Start == nil || *c.Brief.Timeline.Start != estimate.NewDate(2026, time.September, 1) {
		t.Errorf("start = %v, want that of the configuration", c.Brief.Timeline.Start)
	}
}

func TestDrawingsAreReadInFeet(t *testing.T) {
	t.Parallel()
	inches, _ := mustParse(t, fixture(t, "bathroom.json"))
	room, wall, window := inches.CAD.Space.Rooms[0], inches.CAD.Space.Walls[0], inches.CAD.Space.Openings[0]
	if room.Dimensions != (estimate.Dimensions{Length: 10, Width: 7.5, Height: 8}) || room.Sqft != 75 {
		t.Errorf("room = %+v, want 10 by 7.5 by 8 ft, 75 sf", room)
	}
	if wall.Length != 10 || window.Width != 4 || inches.CAD.Space.Box.Width != 7.5 || inches.CAD.Space.Scale.Units != "feet" {
		t.Errorf("wall %v, window %v, box %+v; want 10, 4 and 7.5 ft", wall.Length, window.Width, inches.CAD.Space.Box)
	}
	meters, _ := mustParse(t, changed(t, "kitchen.json", map[string]any{space + ".scale.units": "Meters"}))
	if got, want := meters.CAD.Space.Walls[0].Length, 16/0.3048; math.Abs(got-want) > 1e-9 {
		t.Errorf("16 m = %v ft, want %v", got, want)
	}
	if got := meters.CAD.Space.Box.Length; got != 16 {
		t.Errorf("box in its own feet = %v, want 16", got)
	}
}
