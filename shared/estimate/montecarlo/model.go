package montecarlo

import (
	"cmp"
	"slices"

	"truecost.dev/shared/estimate/stat"
)

// Model is a price under uncertainty, in dollars:
//
//	total = Fixed + Scale × (Σ lines + Σ events)
//
// Lines and events are direct cost; Scale carries them to the price.
type Model struct {
	Lines       []Line
	Events      []Event
	Fixed       float64 // what does not move with the direct cost
	Scale       float64 // dollars of price per dollar of direct cost
	PerDay      float64 // direct dollars that a day of delay costs
	Correlation Correlation
}

// Line is a line of the bill: Quantity × (Material × MaterialFactor + Labor ×
// LaborFactor + Equipment). A nil factor is 1.
type Line struct {
	Name, Group string // Group names the contributor the line belongs to
	Trade       string
	Code        string // lines of one code share a material
	Material    float64
	Labor       float64
	Equipment   float64

	MaterialFactor, LaborFactor, QuantityFactor stat.Dist
}

// cost returns the direct cost with all factors 1.
func (l *Line) cost() float64 { return l.Material + l.Labor + l.Equipment }

// Event is a discrete risk, or with a negative impact an opportunity: with its
// probability it adds Impact × the sampled base, and Delay days.
type Event struct {
	ID          string
	Name        string
	Probability float64
	Base        Base
	Impact      stat.Dist // fraction of the base; nil for none
	Delay       stat.Dist // days of work on site that are lost; nil for none
	Group       string    // events of one group tend to happen together; "" stands alone
}

// Base is what the impact of an event is a share of.
type Base string

// The bases.
const (
	Direct   Base = "direct"
	Material Base = "material"
	Labor    Base = "labor"
)

// Correlation holds the normal correlations of the copula.
type Correlation struct {
	Any      float64 // two lines, in the same kind of factor
	Trade    float64 // two lines of one trade
	Material float64 // two lines of one material
	Cross    float64 // a material price against labor hours or a quantity
	Event    float64 // two events of one group
}

// Usual is the correlation of estimating practice.
var Usual = Correlation{Any: 0.30, Trade: 0.60, Material: 0.80, Cross: 0.20, Event: 0.50}

// Independent is no correlation at all, for comparison.
var Independent = Correlation{}

// sorted returns the lines and events in an order that depends on what they
// are and not on how they were listed, so that a permuted bill draws the same
// numbers.
func (m *Model) sorted() ([]Line, []Event) {
	lines, events := slices.Clone(m.Lines), slices.Clone(m.Events)
	slices.SortStableFunc(lines, func(a, b Line) int {
		order := cmp.Or(
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Trade, b.Trade),
			cmp.Compare(a.Material, b.Material), cmp.Compare(a.Labor, b.Labor), cmp.Compare(a.Equipment, b.Equipment),
		)
		if order != 0 {
			return order // quantiles are dear to compare
		}
		return cmp.Or(
			compareDist(a.MaterialFactor, b.MaterialFactor), compareDist(a.LaborFactor, b.LaborFactor), compareDist(a.QuantityFactor, b.QuantityFactor),
		)
	})
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.ID, b.ID) })
	return lines, events
}

func compareDist(a, b stat.Dist) int {
	if a == nil || b == nil {
		return cmp.Compare(btoi(a != nil), btoi(b != nil))
	}
	return cmp.Or(cmp.Compare(a.Mean(), b.Mean()), cmp.Compare(a.SD(), b.SD()), cmp.Compare(a.Quantile(0.9), b.Quantile(0.9)))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Base returns the deterministic price: every factor 1, no event.
func (m *Model) Base() float64 {
	lines, _ := m.sorted()
	sum := 0.0
	for i := range lines {
		sum += lines[i].cost()
	}
	return m.Fixed + m.Scale*sum
}
