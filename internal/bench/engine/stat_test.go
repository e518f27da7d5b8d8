package main

import (
	"math"
	"testing"
)

func TestLine(t *testing.T) {
	t.Parallel()
	x := series{2, 4, 8, 16}
	if a, b, r2 := line(x, series{7, 11, 19, 35}); math.Abs(a-3) > 1e-9 || math.Abs(b-2) > 1e-9 || math.Abs(r2-1) > 1e-9 {
		t.Errorf("line(3 + 2x) = %v, %v, %v, want 3, 2, 1", a, b, r2)
	}
	if _, _, r2 := line(x, series{4, 16, 64, 256}); r2 > 0.999 {
		t.Errorf("line(x²) explains %v, want no more than 0.999: a cost that is no line would pass", r2)
	}
}

func TestSeries(t *testing.T) {
	t.Parallel()
	s := series{3, 1, 2}
	if got := s.text("%.0f"); got != "2 (1–3)" {
		t.Errorf("text = %q, want the median with the least and the most", got)
	}
}

// The formula is the table of the design: six nodes in a chain, and the same with
// one retry.
func TestFormula(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		calls, critics, nodes int
		want                  string
	}{{12, 0, 6, "56/12/12"}, {15, 1, 6, "67/15/15"}, {14, 0, 7, "65/14/14"}, {48, 12, 6, "188/48/48"}} {
		if got := formula(tt.calls, tt.critics, tt.nodes).String(); got != tt.want {
			t.Errorf("formula(%d, %d, %d) = %s, want %s", tt.calls, tt.critics, tt.nodes, got, tt.want)
		}
	}
}
