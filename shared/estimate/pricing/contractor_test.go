package pricing

import (
	"strings"
	"testing"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// The contractor's own figures are in the price to the cent, whatever the index
// and the date; other lines keep theirs.
func TestContractorsFigures(t *testing.T) {
	t.Parallel()
	in := func(own *estimate.Contractor) estimate.Context {
		ctx := bath()
		ctx.Location.MaterialIndex = 1.2
		ctx.Clarification.Brief.Timeline.Start = day(2027, 7, 1)
		ctx.Clarification.Brief.Contractor = own
		return ctx
	}
	base := price(t, in(nil))
	c := price(t, in(&estimate.Contractor{
		LaborRates: map[string]money.Rate{"tile_setter": money.RateFrom(61.5)},
		Prices:     map[string]money.Rate{"093013.10": money.RateFrom(4.2), "999999.99": money.RateFrom(1)},
	}))

	tile, before := find(t, c, "09-001"), find(t, base, "09-001")
	const subLabor, subMaterial = 1.25, 1.10 // of a tile setter, estimating practice §12.1
	if got, want := tile.UnitMaterial.Low, money.RateFrom(4.2*subMaterial); got != want {
		t.Errorf("unit price of the tile = %v, want %v", got, want)
	}
	if got, want := tile.MaterialCost.Low, money.FromFloat(35*1.12*4.2*subMaterial); got != want {
		t.Errorf("material of the tile = %v, want %v", got, want)
	}
	if got, want := tile.LaborCost.Low, money.FromFloat(before.LaborHours*61.5*subLabor); got != want {
		t.Errorf("labor of the tile = %v, want %v", got, want)
	}
	if tile.Provenance.Level != "contractor" || before.Provenance.Level == "contractor" {
		t.Errorf("levels of the price = %q and %q, want contractor for the first alone", tile.Provenance.Level, before.Provenance.Level)
	}
	for _, l := range base.Lines {
		if now := find(t, c, l.ID); l.ID != "09-001" && now.TotalCost != l.TotalCost {
			t.Errorf("line %s = %v, want %v as without the contractor's figures", l.ID, now.TotalCost, l.TotalCost)
		}
	}
	if c.Adjustments.Escalation >= base.Adjustments.Escalation {
		t.Errorf("escalation = %v, want less than %v: own figures are not escalated", c.Adjustments.Escalation, base.Adjustments.Escalation)
	}
	said := strings.Join(c.Summary.Assumptions, "\n")
	if want := "rates of tile setter; prices of 093013.10."; !strings.Contains(said, want) {
		t.Errorf("assumptions do not say %q:\n%s", want, said)
	}
}

// Rates that are those of the place change nothing where nothing is escalated.
func TestContractorsUsualFigures(t *testing.T) {
	t.Parallel()
	ctx := bath()
	ctx.Clarification.Brief.Timeline.Start = day(2024, 7, 1)
	base := price(t, ctx)
	ctx.Clarification.Brief.Contractor = &estimate.Contractor{LaborRates: ctx.Location.LaborRates}
	if c := price(t, ctx); c.Total != base.Total {
		t.Errorf("with the local rates as own rates the total is %v, want %v", c.Total, base.Total)
	}
}
