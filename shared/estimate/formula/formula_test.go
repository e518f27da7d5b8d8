package formula_test

import (
	"math"
	"strings"
	"testing"

	"truecost.dev/shared/estimate/formula"
)

func TestEval(t *testing.T) {
	t.Parallel()
	drivers := map[string]float64{"A": 100, "P": 41, "ctr_lf": 26}
	tests := []struct {
		text string
		want float64
	}{
		{"A", 100},
		{"2*(A/16)+16", 28.5},
		{"4.1*sqrt(A)", 41},
		{"max(6,ceil(A/32))", 6},
		{"min(A, P) - 1", 40},
		{"-P+A*2", 159},
		{"ctr_lf*1.5", 39},
		{"1-2-3", -4},
		{"8/4/2", 1},
	}
	for _, tt := range tests {
		if got, err := formula.Eval(tt.text, drivers); err != nil || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("Eval(%q) = %v, %v, want %v", tt.text, got, err, tt.want)
		}
	}
	for _, bad := range []string{"", "A+", "(A", "B", "sqrt(A,A)", "1/0", "A A", "abs(A)", strings.Repeat("(", 99), strings.Repeat("-", 99) + "1"} {
		if got, err := formula.Eval(bad, drivers); err == nil {
			t.Errorf("Eval(%q) = %v, want an error", bad, got)
		}
	}
}

func FuzzEval(f *testing.F) {
	for _, seed := range []string{"A", "2*(A/16)+16", "max(6,ceil(A/32))", "((", "-1e9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if v, err := formula.Eval(text, map[string]float64{"A": 10}); err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
			t.Errorf("Eval(%q) = %v without an error", text, v)
		}
	})
}
