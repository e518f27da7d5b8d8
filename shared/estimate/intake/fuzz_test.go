package intake

import (
	"testing"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/fault"
)

// Whatever comes in, Parse returns; what it accepts it accepts again, unchanged.
func FuzzParse(f *testing.F) {
	for _, name := range realInputs(f) {
		f.Add(fixture(f, name))
	}
	f.Add([]byte(`{"version":"1","project":{}}`))
	f.Add([]byte(`{"csiScope":[[[]]],"flags":1e999}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, report := Parse(raw)
		if report.Completeness < 0 || report.Completeness > 100 {
			t.Errorf("completeness = %v", report.Completeness)
		}
		if !report.OK() {
			return
		}
		checkIdempotent(t, c)
		Seed(c)
	})
}

// Any input of an agent gives a context or fault.Invalid.
func FuzzContext(f *testing.F) {
	f.Add([]byte(`{"clarification_output":` + string(fixture(f, "deck.json")) + `,"location_output":{"zipCode":"74114"}}`))
	f.Add([]byte(`{"costOutput":{"divisions":[{}]},"riskOutput":null,"timeline_output":{"startDate":"2026-05-04"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err := Context("e", raw, time.Time{})
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("Context: %v is %s, want invalid", err, fault.KindOf(err))
		}
	})
}

func BenchmarkParse(b *testing.B) {
	raw := fixture(b, "addition.json")
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	var c estimate.Clarification
	for b.Loop() {
		c, _ = Parse(raw)
	}
	_ = c
}
