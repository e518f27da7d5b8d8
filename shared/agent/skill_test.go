package agent

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

type leaf struct {
	Cost money.Cents `json:"cost"`
}

type tree struct {
	leaf
	Name     string               `json:"name"`
	Note     *float64             `json:"note"`
	Months   [12]float64          `json:"months"`
	Rates    map[string]leaf      `json:"rates"`
	Branches []tree               `json:"branches,omitempty"`
	On       estimate.Date        `json:"on"`
	Raw      json.RawMessage      `json:"raw"`
	Count    int                  `json:"count"`
	Done     bool                 `json:"done"`
	Hidden   func()               `json:"-"`
	Triangle estimate.Percentiles `json:"triangle"`
}

func TestSchemaOf(t *testing.T) {
	t.Parallel()
	var got, want any
	if err := json.Unmarshal(schemaOf[tree](), &got); err != nil {
		t.Fatal(err)
	}
	const text = `{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"$ref": "#/$defs/tree",
		"$defs": {
			"leaf": {"type": "object", "properties": {"cost": {"type": "number"}}, "required": ["cost"]},
			"Percentiles": {"type": "object", "properties": {"p10": {"type": "number"}, "p50": {"type": "number"}, "p80": {"type": "number"}, "p90": {"type": "number"}}, "required": ["p10", "p50", "p80", "p90"]},
			"tree": {"type": "object", "properties": {
				"cost": {"type": "number"},
				"name": {"type": "string"},
				"note": {"anyOf": [{"type": "number"}, {"type": "null"}]},
				"months": {"type": "array", "items": {"type": "number"}, "minItems": 12, "maxItems": 12},
				"rates": {"type": "object", "additionalProperties": {"$ref": "#/$defs/leaf"}},
				"branches": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
				"on": {"type": "string", "format": "date"},
				"raw": {},
				"count": {"type": "integer"},
				"done": {"type": "boolean"},
				"triangle": {"$ref": "#/$defs/Percentiles"}
			}, "required": ["cost", "name", "note", "months", "rates", "on", "raw", "count", "done", "triangle"]}
		}
	}`
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schemaOf[tree] (-want +got)\n%s", diff)
	}
}

func BenchmarkSchemaOf(b *testing.B) {
	for b.Loop() {
		schemaOf[estimate.Final]()
	}
}
