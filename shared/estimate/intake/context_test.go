package intake

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/fault"
)

func TestContext(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 3, 0, 0, 0, 0, time.UTC)
	kitchen := string(fixture(t, "kitchen.json"))
	tests := []struct {
		name, in, want string
	}{
		{"nothing", "", ""},
		{"blank", " \n", ""},
		{"empty", "{}", ""},
		{"nulls", `{"clarification_output":null,"location_output":null}`, ""},
		{"a part", `{"location_output":{"zipCode":"80206","laborRates":{"carpenter":61.5}}}`, "location"},
		{"an empty part", `{"scope_output":{}}`, "scope"},
		{"camel case", `{"clarificationOutput":` + kitchen + `,"locationOutput":{},"costOutput":{}}`, "clarification location cost"},
		{
			"all", `{"clarification_output":` + kitchen +
				`,"location_output":{},"scope_output":{},"cost_output":{},"risk_output":{},"timeline_output":{},"final_output":{}}`,
			"clarification location scope cost risk timeline",
		},
		{"a clarification itself", kitchen, "clarification"},
		{"null beside the other spelling", `{"clarification_output":null,"clarificationOutput":` + kitchen + `}`, "clarification"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := Context("e1", json.RawMessage(tt.in), now)
			if err != nil {
				t.Fatal(err)
			}
			var has []string
			for _, p := range []struct {
				name  string
				given bool
			}{
				{"clarification", c.Clarification != nil},
				{"location", c.Location != nil},
				{"scope", c.Scope != nil},
				{"cost", c.Cost != nil},
				{"risk", c.Risk != nil},
				{"timeline", c.Timeline != nil},
			} {
				if p.given {
					has = append(has, p.name)
				}
			}
			if got := strings.Join(has, " "); got != tt.want {
				t.Errorf("Context has %q, want %q", got, tt.want)
			}
			if c.EstimateID != "e1" || !c.Now.Equal(now) {
				t.Errorf("Context = %s at %s, want e1 at %s", c.EstimateID, c.Now, now)
			}
		})
	}
}

func TestContextTakesTheIDOfTheClarification(t *testing.T) {
	t.Parallel()
	c, err := Context("", fixture(t, "deck.json"), time.Time{})
	if err != nil || c.EstimateID != "est-deck-tulsa" {
		t.Errorf("Context = %q, %v, want est-deck-tulsa", c.EstimateID, err)
	}
}

func TestContextRefuses(t *testing.T) {
	t.Parallel()
	bad := string(fixture(t, "bad/item-without-unit.json"))
	tests := []struct{ name, in, names string }{
		{"no JSON", "{", "input"},
		{"an array", "[]", "input"},
		{"deep", strings.Repeat(`{"a":`, 100_000), "input"},
		{"clarification of the wrong type", `{"clarification_output":7}`, "$: "},
		{"clarification invalid", `{"clarification_output":` + bad + `}`, "csiScope.div06_wood_plastics_composites.items[2].unit"},
		{"part of the wrong type", `{"location_output":[]}`, "location_output"},
		{"member of the wrong type", `{"location_output":{"laborIndex":"high"}}`, "location_output.laborIndex"},
		{"money of the wrong type", `{"cost_output":{"subtotals":{"materials":{"low":"1"}}}}`, "cost_output"},
		{"a day in words", `{"timeline_output":{"startDate":"soon"}}`, "timeline_output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Context("e1", json.RawMessage(tt.in), time.Time{})
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Public(err), tt.names) {
				t.Errorf("Context(%.40s) = %v (%s), want invalid naming %q", tt.in, err, fault.KindOf(err), tt.names)
			}
		})
	}
}

func ExampleParse() {
	_, report := Parse([]byte(`{"version": "1.0", "project": {}, "location": {}, "scope": {}}`))
	fmt.Println(report.Err())
	// Output: clarification: $: is a payload of the older form {version, project, location, scope}; wanted a ClarificationOutput with projectBrief and csiScope, schemaVersion 3.0.0 [OLD_FORMAT]
}
