package schedule

import (
	"fmt"
	"math"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/fault"
)

// Plan returns the schedule of the job of ctx.Cost.
//
// It needs the cost (hours and trades of its lines) and the clarification (the
// start wished, or a timestamp to assume one from); without them it returns
// fault.Invalid. Location gives the weather, Risk the delays that are sampled;
// both may be nil.
func Plan(ctx estimate.Context, seed [32]byte) (estimate.Timeline, error) {
	return timeline(ctx, seed, Iterations)
}

func timeline(ctx estimate.Context, seed [32]byte, iterations int) (estimate.Timeline, error) {
	if ctx.Cost == nil {
		return estimate.Timeline{}, fault.New(fault.Invalid, "cost_output: a schedule follows from its hours, and there is none")
	}
	if ctx.Clarification == nil {
		return estimate.Timeline{}, fault.New(fault.Invalid, "clarification_output: a schedule needs a start date or a timestamp")
	}
	if err := checkHours(ctx.Cost); err != nil {
		return estimate.Timeline{}, err
	}
	p, err := newPlan(ctx)
	if err != nil {
		return estimate.Timeline{}, err
	}
	t := estimate.Timeline{EstimateID: ctx.EstimateID, StartAssumed: p.assumed, ThroughHours: round(p.through, 2), Warnings: p.warnings}
	t.Start, t.End = p.cal.day(0), p.last(p.end)
	t.Duration, t.Weeks = p.end, round(p.end/5, 1)
	t.CalendarDays = int(t.End.Sub(t.Start.Time).Hours()/24) + 1
	trials := p.simulate(seed, iterations)
	t.Simulation = trials.summary(p, seed)
	t.DurationRange = estimate.DaysRange{
		Optimistic: math.Min(t.Simulation.P10, t.Duration), Expected: t.Simulation.P50, Pessimistic: t.Simulation.P90,
	}
	t.Tasks = p.tasks(trials)
	for _, i := range p.net.criticalPath(p.times) {
		t.CriticalPath = append(t.CriticalPath, p.list[i].id)
	}
	t.Milestones = p.milestones()
	t.Weather = p.weatherLoss(trials)
	p.judgeDeadline(&t, trials)
	p.describe(&t)
	return t, nil
}

// maxHours bounds what can be scheduled: about fifty houses.
const maxHours = 200_000

func checkHours(c *estimate.Cost) error {
	total := 0.0
	for _, l := range c.Lines {
		if l.LaborHours < 0 {
			return fault.New(fault.Invalid, "cost_output: line %s has %g hours", l.ID, l.LaborHours)
		}
		total += l.LaborHours
	}
	if total <= 0 || total > maxHours {
		return fault.New(fault.Invalid, "cost_output: %g hours of labor cannot be scheduled; wanted more than 0 and at most %d", total, maxHours)
	}
	return nil
}

// plan is a network with its dates.
type plan struct {
	ctx      estimate.Context
	list     []*activity
	net      *network
	cal      *calendar
	times    []Times
	lost     []float64   // expected weather days of each activity
	rain     [12]float64 // probability that a day of the month is lost
	end      float64
	through  float64
	assumed  bool
	warnings []string
}

func newPlan(ctx estimate.Context) (*plan, error) {
	p := &plan{ctx: ctx, warnings: []string{}}
	p.list, p.through = build(ctx)
	nodes := make([]Node, len(p.list))
	for i, a := range p.list {
		nodes[i] = Node{ID: a.id, Links: a.links}
	}
	var err error
	if p.net, err = newNetwork(nodes); err != nil {
		return nil, fmt.Errorf("build the network: %w", err)
	}
	p.cal = newCalendar(p.begin())
	p.rain = p.weather()
	p.times, p.lost = make([]Times, len(nodes)), make([]float64, len(nodes))
	p.end = p.net.forward(p.times, func(i int, es float64) float64 {
		days, lost := p.duration(p.list[i], int(es))
		p.lost[i] = lost
		return days
	})
	p.net.backward(p.times, p.end)
	return p, nil
}

// begin returns the day the job starts: the one wished, else the first Monday
// two weeks or more after the clarification.
func (p *plan) begin() estimate.Date {
	c := p.ctx.Clarification
	if wish := c.Brief.Timeline.Start; wish != nil {
		begin := NextWorkingDay(*wish)
		if !begin.Equal(wish.Time) {
			p.warnings = append(p.warnings, fmt.Sprintf("The start wished, %s, is no working day; the job starts on %s.", wish, begin))
		}
		if !c.Timestamp.IsZero() && wish.Before(estimate.DateOf(c.Timestamp).Time) {
			p.warnings = append(p.warnings, fmt.Sprintf("The start wished, %s, lies before the request of %s.", wish, estimate.DateOf(c.Timestamp)))
		}
		return begin
	}
	p.assumed = true
	day := NextWorkingDay(estimate.AssumedStart(c.Timestamp))
	p.warnings = append(p.warnings, fmt.Sprintf("No start was wished; %s is assumed, the first Monday two weeks or more after the request.", day))
	return day
}

// workingDays is how many working days a month has in the weather tables.
const workingDays = 21

// weather returns the probability that an exterior working day is lost, by
// month.
func (p *plan) weather() (rain [12]float64) {
	var days [12]float64
	switch c := p.ctx.Clarification; {
	case p.ctx.Location != nil:
		days = p.ctx.Location.Weather.LostDays
	case catalog.StateByAbbr(c.Brief.Location.State) != nil:
		days = catalog.StateByAbbr(c.Brief.Location.State).LostDays()
	default:
		p.warnings = append(p.warnings, "The weather of the place is unknown: no days are carried for it.")
	}
	for m := range days {
		rain[m] = math.Min(0.9, math.Max(0, days[m]/workingDays))
	}
	return rain
}

// duration returns the working days of an activity that starts on day es, and
// how many of them the weather is expected to take.
func (p *plan) duration(a *activity, es int) (days, lost float64) {
	if a.wait != nil {
		return float64(p.cal.within(es, int(math.Round(a.wait.likely)))), 0
	}
	days = a.days(1)
	if !a.exterior {
		return days, 0
	}
	for d := range int(days) {
		lost += p.rain[p.cal.day(es+d).Month()-1]
	}
	return days + math.Round(lost), lost
}

// last returns the last working day of a time that ends at ef.
func (p *plan) last(ef float64) estimate.Date {
	return p.cal.day(max(0, int(math.Ceil(ef-1e-9))-1))
}

func (p *plan) tasks(tr *trials) []estimate.Task {
	list := make([]estimate.Task, len(p.list))
	for i, a := range p.list {
		t := p.times[i]
		task := estimate.Task{
			ID: a.id, Number: i + 1, Name: a.name, Phase: "preconstruction", Duration: t.EF - t.ES,
			Start: p.cal.day(int(t.ES)), End: p.last(t.EF), Dependencies: []string{}, Links: []estimate.Dependency{},
			Critical: t.Float < 1e-9, Milestone: a.seq == 0, Trade: a.trade, LaborHours: round(a.hours, 2), Crew: a.crew,
			Exterior: a.exterior, WeatherDays: math.Round(p.lost[i]), ES: t.ES, EF: t.EF, LS: t.LS, LF: t.LF, Float: t.Float,
			Criticality: round(tr.criticality(i), 4),
		}
		if t.EF == t.ES {
			task.End = task.Start
		}
		if a.seq > 0 {
			task.Phase = phases[a.seq]
		}
		if a.wait != nil {
			task.Wait = math.Round(a.wait.likely)
		}
		for _, l := range a.links {
			task.Dependencies = append(task.Dependencies, l.On)
			task.Links = append(task.Links, estimate.Dependency{On: l.On, Relation: l.Relation, Lag: l.Lag})
		}
		list[i] = task
	}
	return list
}

func round(x float64, places int) float64 {
	f := math.Pow10(places)
	return math.Round(x*f) / f
}
