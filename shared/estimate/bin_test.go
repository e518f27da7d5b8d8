package estimate

import (
	"encoding/json"
	"testing"

	"truecost.dev/shared/estimate/money"
)

// A histogram has its edges under both names, and is read under either.
func TestBinSpellings(t *testing.T) {
	t.Parallel()
	b := Bin{Low: money.FromFloat(100), High: money.FromFloat(150.5), Count: 7, Percentage: 3.5}
	const both = `{"range_low":100,"range_high":150.5,"binStart":100,"binEnd":150.5,"count":7,"percentage":3.5}`
	d := DayBin{Low: 100, High: 150.5, Count: 7, Percentage: 3.5}
	for name, v := range map[string]any{"Bin": b, "DayBin": d} {
		var got, want any
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(raw, &got) != nil || json.Unmarshal([]byte(both), &want) != nil || !same(got, want) {
			t.Errorf("%s is written %s, want %s", name, raw, both)
		}
	}
	for _, text := range []string{
		both, `{"range_low":100,"range_high":150.5,"count":7,"percentage":3.5}`, `{"binStart":100,"binEnd":150.5,"count":7,"percentage":3.5}`,
		`{"range_low":100,"binStart":3,"range_high":150.5,"count":7,"percentage":3.5}`,
	} {
		var gotBin Bin
		var gotDay DayBin
		if err := json.Unmarshal([]byte(text), &gotBin); err != nil || gotBin != b {
			t.Errorf("Bin of %s = %v, %v, want %v", text, gotBin, err, b)
		}
		if err := json.Unmarshal([]byte(text), &gotDay); err != nil || gotDay != d {
			t.Errorf("DayBin of %s = %v, %v, want %v", text, gotDay, err, d)
		}
	}
	if err := json.Unmarshal([]byte(`{"range_low":"x"}`), new(Bin)); err == nil {
		t.Error("an edge in words is read, want an error")
	}
}

func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
