package e2e

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"testing"

	"truecost.dev/shared/estimate"
)

// checkIdentities holds the stored outputs to the rules that the agents hold
// themselves to.
func checkIdentities(t *testing.T, doc version) {
	t.Helper()
	var (
		ctx   estimate.Context
		final estimate.Final
		root  estimate.Root
	)
	ctx.Scope, ctx.Cost, ctx.Risk = new(estimate.Scope), new(estimate.Cost), new(estimate.Risk)
	for name, into := range map[string]any{
		"scopeOutput": ctx.Scope, "costOutput": ctx.Cost, "riskOutput": ctx.Risk, "finalOutput": &final,
	} {
		decode(t, doc[name], into)
	}
	fields := maps.Clone(map[string]any(doc))
	delete(fields, "clarificationOutput")
	decode(t, fields, &root)
	for _, b := range slices.Concat(
		ctx.Cost.CheckSums(), ctx.Cost.CheckRanges(), estimate.CheckExclusions(ctx, ctx.Cost),
		final.CheckTotals(), final.CheckAgreement(ctx), root.CheckRoot(&final),
	) {
		t.Errorf("%s %s: %s, want %s. %s", b.Rule, b.Path, b.Observed, b.Expected, b.Issue)
	}
}

func decode(t *testing.T, from, into any) {
	t.Helper()
	b, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("decode %T: %v", into, err)
	}
}

// cents reads an amount of dollars, which has no more than two decimals.
func cents(t *testing.T, value any) int64 {
	t.Helper()
	var dollars float64
	switch v := value.(type) {
	case int64:
		return v * 100
	case float64:
		dollars = v
	default:
		t.Fatalf("%v (%T) is no amount", value, value)
	}
	c := math.Round(dollars * 100)
	if math.Abs(dollars*100-c) > 1e-4 {
		t.Errorf("%v is no amount in cents", dollars)
	}
	return int64(c)
}

// lines lists the priced lines of an estimate.
func lines(doc version) []version {
	var all []version
	for _, division := range elements(doc, "costOutput.divisions") {
		all = append(all, elements(division, "lineItems")...)
	}
	return all
}

func elements(doc version, path string) []version {
	list, _ := doc.at(path).([]any)
	all := make([]version, 0, len(list))
	for _, element := range list {
		m, _ := element.(map[string]any)
		all = append(all, m)
	}
	return all
}

// checkNumbers reads R5 and R6 out of the stored numbers, to the cent, with
// nothing of the code that made them.
//
// fixed is the contingency that the user asked for, as a part of the base; 0 is
// none: then it is what leads to the P80.
func checkNumbers(t *testing.T, doc version, items map[string]version, fixed float64) {
	t.Helper()
	at := func(path string) int64 { t.Helper(); return cents(t, doc.at(path)) }
	sum := func(list []version, member string) (total int64) {
		t.Helper()
		for _, element := range list {
			total += cents(t, element.at(member))
		}
		return total
	}
	equal := func(what string, got, want int64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d cents, want %d", what, got, want)
		}
	}
	const summary, breakdown, adjusted = "finalOutput.executiveSummary.", "finalOutput.costBreakdown.", "costOutput.adjustments."

	// R5: one total, which is the P80 unless the user fixed the contingency.
	total := at("totalCost")
	for _, path := range []string{
		"clientTotal", summary + "totalCost", breakdown + "totalWithContingency", "bill_of_quantities.total", "cost_breakdown.total",
	} {
		equal("R5 "+path, at(path), total)
	}
	if p50, p90 := at("p50"), at("p90"); total < p50 || total > p90 {
		t.Errorf("R5: the total %d lies outside P50 %d to P90 %d", total, p50, p90)
	}
	for _, p := range []string{"p50", "p80", "p90"} {
		equal("R6 risk_analysis."+p, at("risk_analysis."+p), at(p))
		equal("R6 riskOutput.monteCarlo."+p, at("riskOutput.monteCarlo."+p), at(p))
	}

	// R6: lines make divisions, divisions subtotals, subtotals the base.
	divisions := elements(doc, "costOutput.divisions")
	for _, d := range divisions {
		equal("R6 division "+d["divisionCode"].(string), cents(t, d.at("divisionTotal.low")), sum(elements(d, "lineItems"), "totalCost.low"))
	}
	equal("R6 subtotal", at("costOutput.subtotals.subtotal.low"), sum(divisions, "divisionTotal.low"))
	byCategory := map[string]int64{}
	for _, item := range items {
		byCategory[item["category"].(string)] += cents(t, item.at("totalCost.low"))
	}
	for member, category := range map[string]string{"materials": "material", "labor": "labor", "equipment": "equipment"} {
		subtotal := at("costOutput.subtotals." + member + ".low")
		equal("R6 "+member+" of the lines", sum(lines(doc), category+"Cost.low"), subtotal)
		equal("R6 "+member+" of costItems", byCategory[category], subtotal)
		equal("R6 "+member+" of the final output", at(breakdown+member), subtotal)
	}
	base := at(breakdown + "totalBeforeContingency")
	parts := at(adjusted + "locationAdjustment.low")
	for _, path := range []string{"materials", "labor", "equipment"} {
		parts += at("costOutput.subtotals." + path + ".low")
	}
	for _, path := range []string{"overhead", "profit", "permitCosts", "tax"} {
		parts += at(adjusted + path + ".low")
	}
	equal("R6 the parts of the base", parts, base)
	equal("R6 costOutput.total.low", at("costOutput.total.low"), base)
	contingency := at("riskOutput.contingency.dollarAmount")
	equal("R6 contingency = P80 − base", contingency, at("p80")-base)
	if fixed > 0 {
		contingency = int64(math.Round(float64(base) * fixed))
	} else {
		equal("R5 p80", at("p80"), total)
	}
	if doc.at(breakdown+"contingencyFixedByUser") != (fixed > 0) {
		t.Errorf("R6: contingencyFixedByUser is %v, want %v", doc.at(breakdown+"contingencyFixedByUser"), fixed > 0)
	}
	equal("R6 contingency of the final output", at(breakdown+"contingency"), contingency)
	equal("R6 base + contingency", base+contingency, total)
	if off := math.Abs(float64(at("p50")-base)) / float64(base); off > 0.10 {
		t.Errorf("R6: P50 is %.1f %% off the base, want 10 %% at most", 100*off)
	}

	// R6: the integration fields agree.
	equal("R6 bill_of_quantities.items", sum(elements(doc, "bill_of_quantities.items"), "total"), at("bill_of_quantities.subtotal"))
	equal("R6 costDrivers", sum(elements(doc, "costDrivers"), "cost"), at(breakdown+"directCostsSubtotal"))
	equal("R6 laborAnalysis.trades", sum(elements(doc, "laborAnalysis.trades"), "total"), at("laborAnalysis.total"))
	equal("R6 laborAnalysis.total", at("laborAnalysis.total"), at("cost_breakdown.total_labor"))
	equal("R6 cost_breakdown.divisions", sum(elements(doc, "cost_breakdown.divisions"), "total"), at(breakdown+"directCostsSubtotal"))
	for _, path := range []string{"costDrivers", "cost_breakdown.divisions", "risk_analysis.histogram"} {
		if shares := float64(sum(elements(doc, path), "percentage")) / 100; math.Abs(shares-100) > 0.5 {
			t.Errorf("R6: the percentages of %s sum to %.2f", path, shares)
		}
	}
}
