package pricing

import (
	"math"
	"testing"
)

// The vector of estimating practice: I_lab 1.10, I_mat 1.02, tax 8 % on
// materials, labor factor 1.15; general conditions 8, overhead 20, profit 10 %;
// permit 220 + 1 % of the contract.
func TestBuildUpVector(t *testing.T) {
	t.Parallel()
	type row struct{ M, H, L, E, S, D float64 }
	line := func(qty, waste, material, hours, equipment, rate, subLabor, subMaterial float64) work {
		w := work{
			qty: qty, waste: waste, material: material * 1.02, hours: hours * 1.15, rate: rate * 1.10,
			equipment: equipment, tax: 0.08,
		}
		if subLabor > 0 {
			w.sub = subterms{material: subMaterial, labor: subLabor, equipment: subEquipment}
		}
		return w
	}
	tests := []struct {
		name string
		work work
		want row
	}{
		{"024119.14 laborer", line(35, 0, 0, 0.08, 0.05, 36.44, 0, 0), row{0, 3.2200, 129.0705, 1.7500, 0, 130.8205}},
		{"093013.10 tile", line(35, 0.12, 5.70, 0.135, 0, 37.43, 0.25, 0.10), row{246.1415, 5.4337, 223.7238, 0, 80.5451, 550.4104}},
		{"224113.10 plumber", line(1, 0, 290, 2.1, 0, 42.76, 0.45, 0.15), row{319.4640, 2.4150, 113.5919, 0, 99.0360, 532.0919}},
		{"224119.10 plumber", line(1, 0, 540, 4.6, 0, 42.76, 0.45, 0.15), row{594.8640, 5.2900, 248.8204, 0, 201.1988, 1044.8832}},
		{"062000.10 carpenter", line(20, 0.08, 1.40, 0.045, 0, 40.70, 0, 0), row{33.3124, 1.0350, 46.3370, 0, 0, 79.6493}},
		{"099123.14 painter", line(160, 0.05, 0.29, 0.0145, 0, 37.79, 0.25, 0.10), row{53.6700, 2.6680, 110.9061, 0, 33.0935, 197.6696}},
	}
	const half = 0.5e-4 + 1e-9 // of the last printed digit
	total := 0.0
	for _, tt := range tests {
		b := tt.work.build()
		got := row{b.material, b.hours, b.labor, b.equipment, b.sub, b.direct}
		for i, pair := range [][2]float64{{got.M, tt.want.M}, {got.H, tt.want.H}, {got.L, tt.want.L}, {got.E, tt.want.E}, {got.S, tt.want.S}, {got.D, tt.want.D}} {
			if math.Abs(pair[0]-pair[1]) > half {
				t.Errorf("%s: %c = %.4f, want %.4f", tt.name, "MHLESD"[i], pair[0], pair[1])
			}
		}
		s := tt.work.show(b)
		if diff := s.cost() + s.tax - b.direct; math.Abs(diff) > 1e-9 {
			t.Errorf("%s: shown parts differ from D by %g", tt.name, diff)
		}
		total += b.direct
	}
	c := markups{general: 0.08, overhead: 0.20, profit: 0.10}.on(total)
	permit := 220 + 0.01*c.price
	for _, sum := range []struct {
		name      string
		got, want float64
	}{
		{"direct", c.direct, 2535.5249},
		{"general conditions", c.general, 202.8420},
		{"overhead", c.overhead, 547.6734},
		{"profit", c.profit, 328.6040},
		{"contract", c.price, 3614.6443},
		{"permit", permit, 256.1464},
		{"total", c.price + permit, 3870.7908},
		{"markup on direct, percent", 100 * (c.price/c.direct - 1), 42.56},
		{"overhead and profit of the contract, percent", 100 * (c.overhead + c.profit) / c.price, 24.2424},
	} {
		if math.Abs(sum.got-sum.want) > half {
			t.Errorf("%s = %.4f, want %.4f", sum.name, sum.got, sum.want)
		}
	}
}

func TestSetupHoursNeverFall(t *testing.T) {
	t.Parallel()
	last := 0.0
	for h := 0.05; h < 40; h += 0.05 {
		total := h * setup(h)
		if total < last-1e-9 {
			t.Fatalf("setup: %.2f h cost %.3f h, less than a little less work (%.3f h)", h, total, last)
		}
		last = total
	}
	for _, tt := range []struct{ hours, want float64 }{{0, 1}, {2, 1.40}, {10, 1.15}, {40, 1}} {
		if got := setup(tt.hours); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("setup(%v) = %v, want %v", tt.hours, got, tt.want)
		}
	}
}

// What the usual job of a type has in its hours is not charged again.
func TestSetupIsChargedBeyondTheUsualJob(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ hours, usual, want float64 }{
		{3, 3, 1},             // the usual trip
		{3, 40, 1.40},         // a short trip where the usual job fills days
		{3, 0, 1.40},          // a trade that the usual job does not call
		{10, 2, 1},            // less set-up than usual takes nothing off
		{2, 10, 1.40 / 1.15},  // shorter than a usual short trip
		{40, 3, 1}, {0, 3, 1}, // no small quantity, and none at all
	} {
		if got := extra(tt.hours, tt.usual); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("extra(%v, %v) = %v, want %v", tt.hours, tt.usual, got, tt.want)
		}
	}
	for _, usual := range []float64{0, 1, 3, 10, 40} {
		last := 0.0
		for h := 0.05; h < 40; h += 0.05 {
			if total := h * extra(h, usual); total < last-1e-9 {
				t.Fatalf("extra beyond %v h: %.2f h cost %.3f h, less than a little less work (%.3f h)", usual, h, total, last)
			} else {
				last = total
			}
		}
	}
}
