package takeoff

import (
	"math"
	"strings"
	"testing"

	"truecost.dev/shared/estimate/catalog"
)

func TestEvaluate(t *testing.T) {
	t.Parallel()
	drivers := map[string]float64{"A": 100, "P": 41, "ctr_lf": 26}
	tests := []struct {
		formula string
		want    float64
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
		if got, err := evaluate(tt.formula, drivers); err != nil || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("evaluate(%q) = %v, %v, want %v", tt.formula, got, err, tt.want)
		}
	}
	for _, bad := range []string{"", "A+", "(A", "B", "sqrt(A,A)", "1/0", "A A", "abs(A)", strings.Repeat("(", 99), strings.Repeat("-", 99) + "1"} {
		if got, err := evaluate(bad, drivers); err == nil {
			t.Errorf("evaluate(%q) = %v, want an error", bad, got)
		}
	}
}

// TestEveryFormulaOfTheCatalogue: drivers and quantities of every project type
// are numbers at or above zero.
func TestEveryFormulaOfTheCatalogue(t *testing.T) {
	t.Parallel()
	types := catalog.ProjectTypes()
	for i := range types {
		g := &geometry{project: &types[i]}
		drivers, err := driversOf(g.project, g.driver)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range catalog.AssemblyLines() {
			if line.ProjectKey != types[i].Key {
				continue
			}
			if q, err := evaluate(line.Formula, drivers); err != nil || q < 0 {
				t.Errorf("%s %s: %q = %v, %v", line.ProjectKey, line.ItemCode, line.Formula, q, err)
			}
		}
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{"A", "2*(A/16)+16", "max(6,ceil(A/32))", "((", "-1e9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, formula string) {
		if v, err := evaluate(formula, map[string]float64{"A": 10}); err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
			t.Errorf("evaluate(%q) = %v without an error", formula, v)
		}
	})
}
