package schedule

import (
	"slices"

	"truecost.dev/shared/estimate/stat"
)

// struck lists, for a correlation group of the risk register, the activities
// that its delay strikes: the first that the job has. A group without a list
// strikes the activity with the most hours. Weather is drawn day by day, and
// estimating error lies in the hours, so those groups add no delay here.
var struck = map[string][]int{
	"concealed": {demolition, framing, plumbingRough, mobilize},
	"hazmat":    {abatement, demolition, mobilize},
	"ground":    {excavation, footings, mobilize},
	"design":    {design, framing, mobilize},
	"permit":    {roughInspection, framing, mobilize},
	"supply":    {cabinets, openings, countertops, appliances},
	"market":    {mobilize},
	"owner":     {cabinets, trim, finalPaint},
	"quality":   {roughInspection, finalInspection, punchList},
	"mech":      {hvacRough, electricalRough, hvacTrim, plumbingTrim},
	"utility":   {electricalRough, excavation, mobilize},
}

// waited are risks whose delay lies in the range of a wait of the network: late
// goods in that of their order, a slow plan review in that of the permit.
var waited = []string{"R017", "R019"}

// delays returns what the risks of the register add to each activity.
func (p *plan) delays() [][]delay {
	list := make([][]delay, len(p.list))
	if p.ctx.Risk == nil {
		return list
	}
	for i := range p.ctx.Risk.AllRisks {
		r := &p.ctx.Risk.AllRisks[i]
		if r.Group == "weather" || r.Group == "estimate" || r.DelayHigh <= 0 || slices.Contains(waited, r.ID) {
			continue
		}
		k := p.strikes(r.Group)
		list[k] = append(list[k], delay{r.Probability, stat.Tabulate(stat.PERT(r.DelayLow, r.DelayMode, r.DelayHigh))})
	}
	return list
}

func (p *plan) strikes(group string) int {
	for _, seq := range struck[group] {
		if k := slices.IndexFunc(p.list, func(a *activity) bool { return a.seq == seq }); k >= 0 {
			return k
		}
	}
	most := len(p.list) - 1
	for k, a := range p.list {
		if a.hours > p.list[most].hours {
			most = k
		}
	}
	return most
}
