package montecarlo

import (
	"cmp"
	"math"
	"slices"

	"truecost.dev/shared/estimate/stat"
)

// watched is how many lines get a sensitivity: those with the largest standard
// deviation on their own. Every event gets one.
const watched = 12

// moments are what is known of the total without drawing, in dollars of price.
type moments struct {
	mean          float64
	independentSD float64
	sd            []float64 // of each component alone, lines first
}

// moments computes the mean exactly but for the shape of the copula, and the
// standard deviation that independent lines and events would give.
func (m *Model) moments(lines []Line, events []Event, load *loadings) *moments {
	k := &moments{sd: make([]float64, 0, len(lines)+len(events))}
	mean := map[Base]float64{}
	variance := 0.0
	for i := range lines {
		material, labor, total, v := lines[i].moments(load)
		mean[Material] += material
		mean[Labor] += labor
		mean[Direct] += total
		variance += v
		k.sd = append(k.sd, m.Scale*math.Sqrt(v))
	}
	total, swell, ofLines := mean[Direct], 0.0, variance
	for i := range events {
		e := &events[i]
		mu, v := e.moments(mean[e.Base], m.PerDay)
		total += mu
		variance += v
		if e.Base == Direct && e.Impact != nil {
			swell += e.Probability * e.Impact.Mean()
		}
		k.sd = append(k.sd, m.Scale*math.Sqrt(v))
	}
	// Events are shares of the sampled lines, so they stretch the spread of the
	// lines as much as their mean.
	variance += ofLines * (2*swell + swell*swell)
	k.mean = m.Fixed + m.Scale*total
	k.independentSD = m.Scale * math.Sqrt(variance)
	return k
}

// moments returns the means of material, labor and the whole line, and the
// variance of the line.
func (l *Line) moments(load *loadings) (material, labor, total, variance float64) {
	mm, ms := meanSD(l.MaterialFactor)
	lm, ls := meanSD(l.LaborFactor)
	qm, qs := meanSD(l.QuantityFactor)
	withM := load.between(materialKind, quantityKind) * ms * qs
	withL := load.between(laborKind, quantityKind) * ls * qs
	material = l.Material * (mm*qm + withM)
	labor = l.Labor * (lm*qm + withL)
	total = material + labor + l.Equipment*qm
	d := l.Material*mm + l.Labor*lm + l.Equipment
	v := l.Material*l.Material*ms*ms + l.Labor*l.Labor*ls*ls
	return material, labor, total, v*(qm*qm+qs*qs) + d*d*qs*qs
}

// moments returns mean and variance of an event whose base has this mean.
func (e *Event) moments(base, perDay float64) (mean, variance float64) {
	im, is := meanSDOr0(e.Impact)
	dm, ds := meanSDOr0(e.Delay)
	cost := im*base + dm*perDay
	sd := is*base + ds*perDay // one severity drives both
	return e.Probability * cost, e.Probability*(sd*sd+cost*cost) - e.Probability*e.Probability*cost*cost
}

func meanSD(d stat.Dist) (mean, sd float64) {
	if d == nil {
		return 1, 0
	}
	return d.Mean(), d.SD()
}

func meanSDOr0(d stat.Dist) (mean, sd float64) {
	if d == nil {
		return 0, 0
	}
	return d.Mean(), d.SD()
}

// watch returns the indexes of the components to watch: the n lines with the
// largest standard deviation and all events.
func (k *moments) watch(lines, n int) []int {
	order := make([]int, len(k.sd))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order[:lines], func(a, b int) int { return cmp.Compare(k.sd[b], k.sd[a]) })
	return append(order[:min(n, lines):min(n, lines)], order[lines:]...)
}
