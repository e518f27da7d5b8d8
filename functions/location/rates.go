package location

import (
	"fmt"
	"math"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// Bounds of a burdened rate, $/h of one worker anywhere in the country.
const (
	leastRate = 15
	mostRate  = 150
)

// required trades price nearly every job.
var required = []string{"electrician", "plumber", "carpenter", "hvac", "general_labor", "painter"}

func ratesComplete(in estimate.Context, out *output) agent.Grade {
	const why = "A trade without a rate is priced at nothing."
	if len(out.LaborRates) == 0 {
		return agent.Missing(wrong("laborRates", "There are no labor rates.", why, "none", "a burdened rate for every trade"))
	}
	var core, rest []agent.Finding
	for _, trade := range required {
		if _, own := in.Own().Rate(trade); own {
			continue // held against his own by ratesLocal
		}
		if r := out.LaborRates[trade].Float(); !within(r, leastRate, mostRate) {
			core = append(core, wrong("laborRates."+trade, fmt.Sprintf("The rate of %s is absent or impossible.", trade), why, r, fmt.Sprintf("%d to %d $/h", leastRate, mostRate)))
		}
	}
	if len(core) > 0 {
		return agent.Gate(core...)
	}
	for _, t := range catalog.Trades() {
		name := catalog.TradeName(t.Key)
		if _, own := in.Own().Rate(name); own {
			continue
		}
		if r := out.LaborRates[name].Float(); t.Rate > 0 && !within(r, leastRate*0.8, mostRate) {
			rest = append(rest, wrong("laborRates."+name, fmt.Sprintf("The rate of %s is absent or impossible.", name), why, r, fmt.Sprintf("%d to %d $/h", leastRate, mostRate)))
		}
	}
	if len(rest) > 0 {
		return agent.Gate(rest...)
	}
	return agent.Full()
}

// rateTolerance within which a rate is the national one at the labor index.
const rateTolerance = 0.15

// ratesLocal holds each rate against the national burdened rate at the labor
// index (L3): a bare wage, the rate of another trade or a factor applied twice
// all show.
func ratesLocal(in estimate.Context, out *output) agent.Grade {
	if !(out.LaborIndex > 0) {
		return agent.Gate(wrong("laborIndex", "There is no labor index.", "Without it no rate is local.", out.LaborIndex, "a positive index"))
	}
	var off []agent.Finding
	for _, t := range catalog.Trades() {
		name := catalog.TradeName(t.Key)
		got, want := out.LaborRates[name].Float(), t.Rate*out.LaborIndex
		if own, ok := in.Own().Rate(name); ok {
			if out.LaborRates[name] != own {
				off = append(off, wrong("laborRates."+name, fmt.Sprintf("The rate of %s is not the contractor's own.", name), "His rates come before those of the tables.", got, own.Float()))
			}
			continue
		}
		if t.Rate == 0 || got == 0 || math.Abs(got/want-1) <= rateTolerance {
			continue
		}
		issue := fmt.Sprintf("The rate of %s does not follow from the national rate and the labor index.", name)
		if math.Abs(got/(t.CrewWage*out.LaborIndex)-1) < 0.05 {
			issue = fmt.Sprintf("The rate of %s is the bare wage, without burden.", name)
		}
		off = append(off, wrong("laborRates."+name, issue, "Every hour of the trade is priced with it.", got, fmt.Sprintf("%.2f ± 15 %%", want)))
	}
	if len(off) > 0 {
		return agent.Gate(off...)
	}
	return agent.Full()
}

// ratesOrdered catches swapped trades (L5). What a contractor pays his own crews
// is his affair.
func ratesOrdered(in estimate.Context, out *output) agent.Grade {
	var off []agent.Finding
	for _, pair := range [][2]string{{"electrician", "carpenter"}, {"plumber", "carpenter"}, {"carpenter", "general_labor"}} {
		if _, own := in.Own().Rate(pair[:]...); own {
			continue
		}
		dear, cheap := out.LaborRates[pair[0]], out.LaborRates[pair[1]]
		if dear < cheap || dear == 0 {
			off = append(off, wrong("laborRates."+pair[0], fmt.Sprintf("%s earns less than %s: the rates are swapped.", pair[0], pair[1]),
				"Licensed trades cost more than carpenters, and carpenters more than laborers.", dear.Float(), fmt.Sprintf("at least %.2f", cheap.Float())))
		}
	}
	if len(off) > 0 {
		return agent.Gate(off...)
	}
	return agent.Full()
}
