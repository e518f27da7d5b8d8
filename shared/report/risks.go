package report

import (
	"fmt"
	"math"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// risk is the distribution of the total and the register behind it.
func (r *report) risk() {
	r.section("Risk analysis", false)
	k := r.doc.Risk
	if k == nil {
		r.storedRisk()
		return
	}
	m := &k.MonteCarlo
	r.table([]column{
		{head: "P10", weight: 1, right: true},
		{head: "P50", weight: 1, right: true},
		{head: "P80", weight: 1, right: true},
		{head: "P90", weight: 1, right: true},
		{head: "Mean", weight: 1, right: true},
		{head: "Std. dev.", weight: 1, right: true},
		{head: "Least", weight: 1, right: true},
		{head: "Most", weight: 1, right: true},
	}, []row{{cells: []string{m.P10.Whole(), m.P50.Whole(), m.P80.Whole(), m.P90.Whole(), m.Mean.Whole(), m.StdDev.Whole(), m.Min.Whole(), m.Max.Whole()}}})
	r.sub("Distribution of the total", 84)
	r.histogram(m.Histogram, []mark{{"P10", m.P10}, {"P50", m.P50}, {"P80", m.P80}, {"P90", m.P90}})
	r.note(fmt.Sprintf("%s iterations, seed %s, average correlation %.2f. The base of %s is exceeded in %.0f %% of the cases.",
		number(float64(m.Iterations)), m.Seed, m.Correlation, k.Base.Whole(), 100*m.OverBase))
	r.sub("What moves the total", 40)
	r.tornado(m.Tornado, m.Mean)
	r.note("Each bar is the total with that input at its P10 and at its P90, the others at their mean.")
	r.sub("Contingency", 20)
	r.contingency(m.P50, m.P80, k.Contingency.Rationale)
	r.sub("Risk register", 30)
	r.register(k)
}

func (r *report) contingency(p50, p80 money.Cents, why string) {
	text := why
	if p50 > 0 {
		text += fmt.Sprintf(" The spread (P80 less P50) is %s, %.1f %% of P50.", (p80 - p50).Whole(), 100*ratio(p80-p50, p50))
	}
	if b := r.doc.Breakdown; b != nil {
		text += fmt.Sprintf(" The total holds %s.", b.Contingency.Whole())
	}
	r.paragraph(text)
}

// register lists the risks, with how strongly each moves the total.
func (r *report) register(k *estimate.Risk) {
	sensitivity := map[string]float64{} // by the name of the risk
	for _, s := range k.MonteCarlo.Tornado {
		sensitivity[s.Name] = s.Spearman
	}
	for _, s := range k.MonteCarlo.TopRisks {
		sensitivity[s.Item] = s.Sensitivity
	}
	items := k.AllRisks
	if len(items) == 0 {
		items = k.TopRisks
	}
	var rows []row
	for i := range items {
		v := &items[i]
		rating := missing
		if s, known := sensitivity[v.Item]; known {
			rating = rated(s)
		}
		rows = append(rows, row{cells: []string{
			v.Item, title(v.Category), percent(100 * v.Probability), v.CostLow.Whole() + " to " + v.CostHigh.Whole(), v.Expected.Whole(), rating, v.Mitigation,
		}})
	}
	r.table([]column{
		{head: "Risk", weight: 4.4},
		{head: "Category", weight: 2.2},
		{head: "Chance", weight: 1.7, right: true},
		{head: "Impact", weight: 3.7, right: true},
		{head: "Expected", weight: 1.8, right: true},
		{head: "Rating", weight: 2.4},
		{head: "Mitigation", weight: 5},
	}, rows)
	r.note("Owner of each risk: " + missing + ". Rating by the correlation with the total: above 0.7 high, above 0.4 medium.")
}

// rated names a sensitivity.
func rated(s float64) string {
	switch s = math.Abs(s); {
	case s > 0.7:
		return "HIGH"
	case s > 0.4:
		return "MED"
	}
	return "LOW"
}

// storedRisk prints the risk at the root of a document.
func (r *report) storedRisk() {
	k := r.doc.RootRisk
	if k == nil {
		r.paragraph(title(missing) + ".")
		return
	}
	r.table([]column{{head: "P50", weight: 1, right: true}, {head: "P80", weight: 1, right: true}, {head: "P90", weight: 1, right: true}, {head: "Mean", weight: 1, right: true}},
		[]row{{cells: []string{k.P50.Whole(), k.P80.Whole(), k.P90.Whole(), k.Mean.Whole()}}})
	r.histogram(k.Histogram, []mark{{"P50", k.P50}, {"P80", k.P80}, {"P90", k.P90}})
	r.contingency(k.P50, k.P80, "")
	var rows []row
	for _, v := range k.TopRisks {
		rows = append(rows, row{cells: []string{v.Item, v.Impact.Whole(), percent(100 * v.Probability), rated(v.Sensitivity)}})
	}
	r.table([]column{{head: "Risk", weight: 5}, {head: "Impact", weight: 2, right: true}, {head: "Probability", weight: 2, right: true}, {head: "Rating", weight: 1.5}}, rows)
}
