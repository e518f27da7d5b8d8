package pricing

import (
	"math"
	"testing"

	"truecost.dev/shared/estimate"
)

// What the user set is in the price to the cent: overhead on direct cost, design
// and general conditions, profit on all that with overhead, contingency on the
// base, waste on what is sold by measure and on no other line.
func TestPreferencesToTheCent(t *testing.T) {
	t.Parallel()
	with := func(p *estimate.Preferences) estimate.Cost {
		ctx := bath()
		ctx.Location.Tax = estimate.SalesTax{Base: "none"}
		ctx.Clarification.Brief.Preferences = p
		return price(t, ctx)
	}
	plain := with(nil)
	c := with(&estimate.Preferences{Overhead: new(0.17), Profit: new(0.095), Contingency: new(0.065), Waste: new(1.2)})
	a := &c.Adjustments
	below := c.Subtotals.Subtotal.Low.Float() + a.GeneralConditions.Low.Float() + a.Design.Low.Float()
	cents := 0.015 * float64(c.LineCount) // three columns of a line, half a cent each
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > cents*0.2+0.01 {
			t.Errorf("%s = %.2f, want %.2f", what, got, want)
		}
	}
	near("overhead", a.CompanyOverhead.Low.Float(), 0.17*below)
	near("profit", a.Profit.Low.Float(), 0.095*(below+a.CompanyOverhead.Low.Float()))
	if got, want := a.Contingency.Low, c.Total.Low.Scale(0.065); got != want {
		t.Errorf("contingency = %v, want %v", got, want)
	}
	for _, l := range c.Lines {
		want := find(t, plain, l.ID).WastePct
		if want > 0 && (l.Unit == "sf" || l.Unit == "lf") {
			want = 20
		}
		if l.WastePct != want {
			t.Errorf("waste of %s in %s = %v %%, want %v %%", l.ID, l.Unit, l.WastePct, want)
		}
		if material := l.UnitMaterial.Low.Float() * l.Quantity * (1 + want/100); math.Abs(l.MaterialCost.Low.Float()-material) > 0.01+1e-4*l.Quantity {
			t.Errorf("material of %s = %v, want %.2f", l.ID, l.MaterialCost.Low, material)
		}
	}
}
