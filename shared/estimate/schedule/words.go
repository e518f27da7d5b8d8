package schedule

import (
	"fmt"
	"math"
	"strings"

	"truecost.dev/shared/estimate"
)

// milestones names the days that a client waits for; at least four.
func (p *plan) milestones() []estimate.Milestone {
	list := []estimate.Milestone{{ID: "M-start", Name: "Project Start", Date: p.cal.day(0), Description: "Design, permit and orders begin."}}
	add := func(id, name, about string, at estimate.Date) {
		list = append(list, estimate.Milestone{ID: id, Name: name, Date: at, Description: about})
	}
	if i := p.find(mobilize); i >= 0 {
		add("M-site", "Site Mobilization", "Work on site begins.", p.cal.day(int(p.times[i].ES)))
	}
	if at, ok := p.done("rough_in", "framing", "foundation"); ok {
		add("M-rough", "Rough-In Complete", "What the walls will hide is done and inspected.", at)
	}
	if at, ok := p.begun("finish", "fixtures"); ok {
		add("M-finish", "Finish Phase Start", "Finishes begin.", at)
	}
	add("M-complete", "Project Complete", "Punch list closed, handed over.", p.last(p.end))
	if len(list) < 4 {
		add("M-punch", "Punch List Start", "Last corrections begin.", p.cal.day(int(p.times[len(p.times)-1].ES)))
	}
	return list
}

func (p *plan) find(seq int) int {
	for i, a := range p.list {
		if a.seq == seq {
			return i
		}
	}
	return -1
}

// done returns the last day of the first of the phases that the job has.
func (p *plan) done(names ...string) (estimate.Date, bool) {
	for _, name := range names {
		ef := -1.0
		for i, a := range p.list {
			if a.seq > 0 && phases[a.seq] == name {
				ef = math.Max(ef, p.times[i].EF)
			}
		}
		if ef >= 0 {
			return p.last(ef), true
		}
	}
	return estimate.Date{}, false
}

// begun returns the first day of the first of the phases that the job has.
func (p *plan) begun(names ...string) (estimate.Date, bool) {
	for _, name := range names {
		es := math.Inf(1)
		for i, a := range p.list {
			if a.seq > 0 && phases[a.seq] == name && (a.seq != cladding || name != "finish" || p.find(firstPaint) < 0) {
				es = math.Min(es, p.times[i].ES)
			}
		}
		if !math.IsInf(es, 1) {
			return p.cal.day(int(es)), true
		}
	}
	return estimate.Date{}, false
}

func (p *plan) weatherLoss(tr *trials) estimate.WeatherLoss {
	expected := 0.0
	for _, l := range p.lost {
		expected += l
	}
	w := estimate.WeatherLoss{ExpectedDelay: round(expected, 2), Buffer: math.Ceil(math.Max(0, tr.lostP80-expected)), Level: "Low"}
	switch share := expected / math.Max(1, p.end); {
	case share > 0.10:
		w.Level = "High"
	case share > 0.03:
		w.Level = "Medium"
	}
	return w
}

// judgeDeadline compares the end with the deadline.
func (p *plan) judgeDeadline(t *estimate.Timeline, tr *trials) {
	wishes := p.ctx.Clarification.Brief.Timeline
	if wishes.Deadline == nil {
		return
	}
	met := !t.End.After(wishes.Deadline.Time)
	t.DeadlineMet = &met
	days := 0
	for days < maxDays && !p.cal.day(days).After(wishes.Deadline.Time) {
		days++
	}
	chance := round(tr.within(float64(days)), 4)
	t.Simulation.Deadline = &chance
	t.DeadlineNote = fmt.Sprintf("The plan ends on %s; %.0f of 100 simulated schedules meet the deadline of %s.", t.End, 100*chance, wishes.Deadline)
	if met && chance >= 0.5 {
		return
	}
	switch wishes.Flexibility {
	case "strict":
		t.NeedsReview = true
		t.Warnings = append(t.Warnings, "The deadline is strict and is likely to be missed: start earlier, add crews or reduce the scope.")
	case "open":
	default:
		t.Warnings = append(t.Warnings, fmt.Sprintf("The deadline of %s is likely to be missed; it was called flexible.", wishes.Deadline))
	}
}

func (p *plan) describe(t *estimate.Timeline) {
	t.Generated = estimate.DateOf(p.ctx.Now)
	t.NeedsReview = t.NeedsReview || t.StartAssumed
	longest := 0
	for i := range p.list {
		if p.times[i].Float < 1e-9 && p.times[i].EF-p.times[i].ES > p.times[longest].EF-p.times[longest].ES {
			longest = i
		}
	}
	t.Summary = fmt.Sprintf("%.0f working days (%.1f weeks) from %s to %s. Half of the simulated schedules finish by %s, 80 %% by %s. The longest activity of the critical path is %q.",
		t.Duration, t.Weeks, t.Start, t.End, t.Simulation.P50Finish, t.Simulation.P80Finish, p.list[longest].name)
	t.Assumptions = []string{
		"Five days a week of eight hours, of which 85 % move the work; no work on federal holidays and on the day after Thanksgiving.",
		"Durations follow from the hours of the cost lines and the crews of the catalogue.",
		"Design, permit and orders begin on the start date.",
		fmt.Sprintf("%.1f hours of supervision and daily clean-up run through the job and drive no task.", t.ThroughHours),
	}
	if t.Weather.ExpectedDelay > 0 {
		t.Assumptions = append(t.Assumptions, fmt.Sprintf("Weather takes %.1f days of exterior work in the months it falls into.", t.Weather.ExpectedDelay))
	}
	if t.StartAssumed {
		t.Assumptions = append(t.Assumptions, "The start is assumed.")
	}
	t.Risks = p.riskWords(t)
	t.Confidence = p.confidence(t)
}

func (p *plan) riskWords(t *estimate.Timeline) []string {
	list := []string{}
	if p.ctx.Risk != nil {
		for _, r := range p.ctx.Risk.AllRisks {
			if r.DelayMode >= 3 && r.Probability >= 0.15 && len(list) < 5 {
				list = append(list, fmt.Sprintf("%s: %.0f %% likely, usually %.0f days.", r.Item, 100*r.Probability, r.DelayMode))
			}
		}
	}
	if t.Weather.Level != "Low" {
		list = append(list, fmt.Sprintf("Weather: %.1f days expected, %.0f more in a bad season.", t.Weather.ExpectedDelay, t.Weather.Buffer))
	}
	for i, a := range p.list {
		if a.wait != nil && a.seq == order && p.times[i].Float <= 2 {
			list = append(list, "Delivery drives the finish: "+strings.TrimPrefix(a.name, "Order and delivery: ")+".")
		}
	}
	return list
}

// confidence falls with what had to be assumed.
func (p *plan) confidence(t *estimate.Timeline) float64 {
	c := 0.9
	if t.StartAssumed {
		c -= 0.15
	}
	for _, absent := range []bool{p.ctx.Location == nil, p.ctx.Risk == nil, p.ctx.Scope == nil} {
		if absent {
			c -= 0.05
		}
	}
	if p.ctx.Cost.LineConfidence > 0 {
		c = math.Min(c, p.ctx.Cost.LineConfidence+0.15)
	}
	return round(math.Max(0.1, c), 4)
}
