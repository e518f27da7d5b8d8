package estimate

import "truecost.dev/shared/estimate/money"

// Range is an uncertain amount: Low is its P50, Medium its P80, High its P90.
// Low ≤ Medium ≤ High.
type Range struct {
	Low    money.Cents `json:"low"`
	Medium money.Cents `json:"medium"`
	High   money.Cents `json:"high"`
}

// RateRange is an uncertain price per unit or per hour, in the same percentiles.
type RateRange struct {
	Low    money.Rate `json:"low"`
	Medium money.Rate `json:"medium"`
	High   money.Rate `json:"high"`
}

// Fixed returns an amount that is certain.
func Fixed(c money.Cents) Range { return Range{c, c, c} }

// Add returns the sum, as if both moved together.
func (r Range) Add(o Range) Range {
	return Range{r.Low + o.Low, r.Medium + o.Medium, r.High + o.High}
}

// Ordered reports whether 0 ≤ Low ≤ Medium ≤ High.
func (r Range) Ordered() bool { return 0 <= r.Low && r.Low <= r.Medium && r.Medium <= r.High }

// Triangle is an uncertain value in the terms of a judged range: its P10, its
// most likely value and its P90. Low ≤ Likely ≤ High.
type Triangle struct {
	Low    float64 `json:"low"`
	Likely float64 `json:"likely"`
	High   float64 `json:"high"`
}
