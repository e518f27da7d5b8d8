package report

import (
	"cmp"
	"math/big"
	"slices"

	"truecost.dev/shared/estimate/money"
)

// amount is a named part of a total.
type amount struct {
	name string
	cost money.Cents
}

// groups are the categories of a client, by division.
var groups = map[string]string{
	"01": "Site preparation and protection", "02": "Site preparation and protection",
	"03": "Structure", "04": "Structure", "05": "Structure",
	"06": "Carpentry and cabinetry", "07": "Roofing, siding and insulation", "08": "Doors and windows",
	"09": "Finishes", "10": "Fixtures and specialties", "11": "Appliances and equipment",
	"12": "Furnishings and countertops", "13": "Special construction", "14": "Elevators and lifts",
	"21": "Fire protection", "22": "Plumbing", "23": "Heating and cooling",
	"25": "Electrical and low voltage", "26": "Electrical and low voltage", "27": "Electrical and low voltage", "28": "Electrical and low voltage",
	"31": "Site work and landscaping", "32": "Site work and landscaping", "33": "Site work and landscaping",
}

// category is what a client calls a division.
func category(code, name string) string {
	return cmp.Or(groups[code], public(clean(name)), "Other work")
}

// clientShares divides the total, in whole dollars, into the categories of a
// client: permits as they are, the rest in proportion to the direct cost. What
// the categories show adds up to what the total shows.
func (d *Document) clientShares() []amount {
	total := d.Total()
	if total == nil || *total < 0 || d.Breakdown == nil {
		return nil
	}
	var parts []amount
	for _, division := range d.Breakdown.Divisions {
		name := category(division.Code, division.Name)
		i := slices.IndexFunc(parts, func(a amount) bool { return a.name == name })
		if i < 0 {
			i, parts = len(parts), append(parts, amount{name: name})
		}
		parts[i].cost += division.Total
	}
	dollars := money.FromFloat(float64((*total + 50) / 100))
	permits := (d.Breakdown.Permits + 50) / 100 * 100
	if permits < 0 || permits > dollars {
		permits = 0
	}
	if !portion(parts, dollars-permits) {
		return nil
	}
	slices.SortStableFunc(parts, func(a, b amount) int { return cmp.Compare(b.cost, a.cost) })
	if permits > 0 {
		parts = append(parts, amount{"Permits and fees", permits})
	}
	return parts
}

// portion replaces the costs by shares of whole in proportion to them, in whole
// dollars; what rounding down leaves goes to the largest remainders. It reports
// false when there is nothing to be in proportion to.
func portion(parts []amount, whole money.Cents) bool {
	sum := money.Cents(0)
	for _, p := range parts {
		if p.cost < 0 {
			return false
		}
		sum += p.cost
	}
	if sum <= 0 {
		return false
	}
	type rest struct {
		at   int
		left *big.Int
	}
	var rests []rest
	left := whole
	for i := range parts {
		product := new(big.Int).Mul(big.NewInt(int64(parts[i].cost)), big.NewInt(int64(whole/100)))
		quotient, remainder := new(big.Int).QuoRem(product, big.NewInt(int64(sum)), new(big.Int))
		parts[i].cost = money.Cents(quotient.Int64() * 100)
		left -= parts[i].cost
		rests = append(rests, rest{i, remainder})
	}
	slices.SortStableFunc(rests, func(a, b rest) int { return b.left.Cmp(a.left) })
	for _, r := range rests[:min(len(rests), int(left/100))] {
		parts[r.at].cost += 100
	}
	return true
}
