package timeline

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/estimate/schedule"
)

// calendar checks that dates are working days and agree with the computed days.
func calendar(ctx estimate.Context, t *estimate.Timeline) agent.Grade {
	var list []agent.Finding
	idle := func(path string, d estimate.Date) {
		if !schedule.IsWorkingDay(d) {
			list = append(list, found(path, d.Format("Mon 2006-01-02"), "a working day", "Work is planned on a weekend or a holiday.", "Nobody comes."))
		}
	}
	day := workingDays(t.Start)
	idle("startDate", t.Start)
	idle("endDate", t.End)
	for i, k := range t.Tasks {
		path := fmt.Sprintf("tasks[%d]", i)
		idle(path+".start", k.Start)
		idle(path+".end", k.End)
		if k.EF > longestJob || k.Duration <= 0 || k.ES < 0 || k.ES > k.EF {
			continue // absurd days are found elsewhere, and a milestone ends when it starts
		}
		if want := day(int(k.ES)); !want.Equal(k.Start.Time) {
			list = append(list, found(path+".start", k.Start.String(), want.String(), "A date does not follow from its working day.", "Holidays and weekends were counted, or not."))
		}
		if want := day(int(math.Ceil(k.EF-1e-6)) - 1); !want.Equal(k.End.Time) {
			list = append(list, found(path+".end", k.End.String(), want.String(), "A date does not follow from its working day.", "Holidays and weekends were counted, or not."))
		}
	}
	if c := ctx.Clarification; c != nil {
		if wish := c.Brief.Timeline.Start; wish != nil && t.Start.Before(wish.Time) {
			list = append(list, found("startDate", t.Start.String(), "not before "+wish.String(), "The job starts before the client wishes.", "The house is not free."))
		} else if (wish == nil) != t.StartAssumed {
			list = append(list, found("startDateAssumed", fmt.Sprint(t.StartAssumed), fmt.Sprint(wish == nil), "It is not said whether the start is assumed.", "An assumed date is no promise."))
		}
	}
	list = append(list, extent(t)...)
	list = append(list, deadline(ctx, t)...)
	return graded(list)
}

// extent holds the figures of the whole job against its tasks and dates.
func extent(t *estimate.Timeline) (list []agent.Finding) {
	if k := t.Tasks; len(k) > 0 {
		last := slices.MaxFunc(k, func(a, b estimate.Task) int { return a.End.Compare(b.End.Time) })
		if !last.End.Equal(t.End.Time) {
			list = append(list, found("endDate", t.End.String(), last.End.String(), "The job does not end with its last task.", "The date is a promise."))
		}
	}
	if math.Abs(t.Weeks-t.Duration/5) > 0.11 {
		list = append(list, found("totalWeeks", fmt.Sprintf("%.1f", t.Weeks), fmt.Sprintf("%.1f", t.Duration/5), "The weeks are not the working days over five.", "Both are printed."))
	}
	if want := int(t.End.Sub(t.Start.Time).Hours()/24) + 1; t.CalendarDays != want {
		list = append(list, found("totalCalendarDays", fmt.Sprint(t.CalendarDays), fmt.Sprint(want), "The calendar days do not span the dates.", "Both are printed."))
	}
	return list
}

// deadline holds what is said of the client's deadline against the dates and
// the simulated durations.
func deadline(ctx estimate.Context, t *estimate.Timeline) (list []agent.Finding) {
	const why = "The client decides by it."
	chance := t.Simulation.Deadline
	if chance != nil && !(*chance >= 0 && *chance <= 1) {
		list = append(list, found("scheduleMonteCarlo.deadlineProbability", fmt.Sprint(*chance), "0 to 1", "A probability is impossible.", why))
	}
	if ctx.Clarification == nil {
		return list
	}
	wish := ctx.Clarification.Brief.Timeline.Deadline
	switch {
	case (wish == nil) != (t.DeadlineMet == nil):
		list = append(list, found("deadlineMet", fmt.Sprint(t.DeadlineMet != nil), fmt.Sprint(wish != nil), "A deadline is judged that nobody gave, or one that was given is not.", why))
	case wish != nil && *t.DeadlineMet == t.End.After(wish.Time):
		list = append(list, found("deadlineMet", fmt.Sprint(*t.DeadlineMet), fmt.Sprintf("%s against the deadline of %s", t.End, wish), "It is not said truly whether the plan meets the deadline.", why))
	}
	if wish == nil || chance == nil || t.Start.IsZero() {
		return list
	}
	return append(list, unlikely(t, *wish)...)
}

// unlikely compares the chance to meet a deadline with the percentiles of the
// duration: what ends before P50 is met in less than half of the schedules.
func unlikely(t *estimate.Timeline, wish estimate.Date) []agent.Finding {
	const margin, slack = 1.0, 0.05 // a day, and what a day may be worth
	s, day, n := &t.Simulation, workingDays(t.Start), 0
	for n < longestJob && !day(n).After(wish.Time) {
		n++
	}
	chance, days := *s.Deadline, float64(n)
	if days < s.P50-margin && chance > 0.5+slack || days > s.P80+margin && chance < 0.8-slack {
		return []agent.Finding{found("scheduleMonteCarlo.deadlineProbability", fmt.Sprintf("%.2f", chance), fmt.Sprintf("%d days are there; P50 is %g, P80 %g", n, s.P50, s.P80),
			"The chance to meet the deadline is not that of the simulated durations.", "The client decides by it.")}
	}
	return nil
}

// longestJob bounds the days that are looked up, in working days.
const longestJob = 2000

// workingDays returns a function that gives the nth working day from start, the
// first being 0, and remembers those it has counted.
func workingDays(start estimate.Date) func(n int) estimate.Date {
	list := []estimate.Date{schedule.NextWorkingDay(start)}
	return func(n int) estimate.Date {
		for len(list) <= n {
			list = append(list, schedule.AddWorkingDays(list[len(list)-1], 1))
		}
		return list[max(0, n)]
	}
}

// Activities by their number in the catalogue.
const (
	plumbingRough, hvacRough, electricalRough, roughInspection = 15, 16, 17, 18
	insulation, drywall, firstPaint, tile, cabinets            = 19, 20, 21, 22, 24
	countertops, plumbingTrim, finalInspection                 = 26, 28, 35
)

func find(t *estimate.Timeline, seq int) *estimate.Task {
	for i := range t.Tasks {
		if t.Tasks[i].ID == schedule.ID(seq) {
			return &t.Tasks[i]
		}
	}
	return nil
}

// order finds the pairs of activities of which the second starts before the
// first has ended.
func order(t *estimate.Timeline, path, why string, pairs [][2]int) (list []agent.Finding) {
	for _, p := range pairs {
		a, b := find(t, p[0]), find(t, p[1])
		if a != nil && b != nil && b.ES < a.EF-1e-6 {
			list = append(list, found(path, fmt.Sprintf("%s on day %g", b.Name, b.ES), fmt.Sprintf("after %s, day %g", a.Name, a.EF),
				fmt.Sprintf("%s comes before %s.", b.Name, a.Name), why))
		}
	}
	return list
}

func inspections(ctx estimate.Context, t *estimate.Timeline) agent.Grade {
	if ctx.Cost == nil {
		return agent.Full()
	}
	class := ctx.Cost.Adjustments.PermitClass
	if class == "" || class == "none" {
		return agent.Full()
	}
	var list []agent.Finding
	missing := func(seq int, name string) {
		if find(t, seq) == nil {
			list = append(list, found("tasks", "no "+name, name, "An inspection is missing.", "Work that needs a permit is inspected before it is covered and at the end."))
		}
	}
	if find(t, plumbingRough) != nil || find(t, hvacRough) != nil || find(t, electricalRough) != nil {
		missing(roughInspection, "rough inspection")
	}
	missing(finalInspection, "final inspection")
	list = append(list, order(t, "tasks", "What is inspected must be there and still be open.", [][2]int{
		{plumbingRough, roughInspection},
		{hvacRough, roughInspection},
		{electricalRough, roughInspection},
		{roughInspection, insulation},
		{roughInspection, drywall},
	})...)
	return graded(list)
}

func sequence(_ estimate.Context, t *estimate.Timeline) agent.Grade {
	return graded(order(t, "tasks", "The later trade would have to come twice.", [][2]int{
		{tile, plumbingTrim},
		{firstPaint, cabinets},
		{cabinets, countertops},
		{drywall, firstPaint},
		{drywall, tile},
		{insulation, drywall},
	}))
}

func weather(_ estimate.Context, t *estimate.Timeline) agent.Grade {
	var list []agent.Finding
	for i, k := range t.Tasks {
		if k.WeatherDays < 0 || (k.WeatherDays > 0 && !k.Exterior) || k.WeatherDays > k.Duration {
			list = append(list, found(fmt.Sprintf("tasks[%d].weatherDays", i), days(k.WeatherDays), "days of exterior work only", "Weather is charged to work under a roof.", "Rain does not stop it."))
		}
	}
	if t.Weather.ExpectedDelay < 0 || t.Weather.ExpectedDelay > t.Duration {
		list = append(list, found("weatherImpact.expectedDelayDays", days(t.Weather.ExpectedDelay), "0 to the duration", "The loss to weather is absurd.", "Readers plan with it."))
	}
	return graded(list)
}

// finishes holds the dates of P50 and P80 against their working days.
func finishes(t *estimate.Timeline) (list []agent.Finding) {
	s := &t.Simulation
	for _, f := range []struct {
		path string
		got  estimate.Date
		day  float64
	}{{"scheduleMonteCarlo.p50Finish", s.P50Finish, s.P50}, {"scheduleMonteCarlo.p80Finish", s.P80Finish, s.P80}} {
		if f.day <= 0 || f.day > longestJob {
			continue
		}
		want := workingDays(t.Start)(max(0, int(math.Ceil(f.day-1e-9))-1))
		if !f.got.Equal(want.Time) {
			list = append(list, found(f.path, f.got.String(), want.String(), "A finish is not the working day of its percentile.", "The date is a promise."))
		}
	}
	return list
}

func simulation(_ estimate.Context, t *estimate.Timeline) agent.Grade {
	s, r := &t.Simulation, t.DurationRange
	var list []agent.Finding
	wrong := func(is bool, path, observed, expected, issue, why string) {
		if is {
			list = append(list, found(path, observed, expected, issue, why))
		}
	}
	wrong(s.Iterations < schedule.Iterations, "scheduleMonteCarlo.iterations", fmt.Sprint(s.Iterations), fmt.Sprintf("at least %d", schedule.Iterations),
		"Too few iterations.", "The tail is not settled.")
	b, err := hex.DecodeString(s.Seed)
	wrong(err != nil || len(b) != 32, "scheduleMonteCarlo.seed", s.Seed, "64 hexadecimal digits", "The seed is not recorded.", "The numbers cannot be repeated.")
	wrong(!slices.IsSorted([]float64{s.Min, s.P10, s.P50, s.P80, s.P90, s.Max}), "scheduleMonteCarlo.p80Days",
		fmt.Sprintf("%g, %g, %g, %g", s.P10, s.P50, s.P80, s.P90), "P10 to P90 in order", "Percentiles are out of order.", "A higher percentile cannot be a shorter job.")
	wrong(!slices.IsSorted([]float64{r.Optimistic, r.Expected, r.Pessimistic}) || r.Optimistic > t.Duration || r.Pessimistic < t.Duration, "durationRange",
		fmt.Sprintf("%g, %g, %g", r.Optimistic, r.Expected, r.Pessimistic), fmt.Sprintf("a range round %g", t.Duration),
		"The range does not hold the plan.", "Then one of them is wrong.")
	wrong(s.Mean < s.P10 || s.Mean > s.P90, "scheduleMonteCarlo.meanDays", days(s.Mean), fmt.Sprintf("%g to %g", s.P10, s.P90),
		"The mean lies outside P10 to P90.", "Then one of them is wrong.")
	wrong(s.StdDev < 0 || s.StdDev > s.P90, "scheduleMonteCarlo.stdDevDays", days(s.StdDev), "less than "+days(s.P90), "The spread is longer than the job.", "Then one of them is wrong.")
	wrong(s.Max > 4*s.P90, "scheduleMonteCarlo.maxDays", days(s.Max), "at most "+days(4*s.P90), "The longest schedule is absurd.", "Readers plan with it.")
	wrong(r.Pessimistic > 4*t.Duration, "durationRange.pessimistic", days(r.Pessimistic), "at most "+days(4*t.Duration), "The range says nothing.", "Readers plan with it.")
	wrong(s.RiskIndex < 0 || s.RiskIndex > 1, "scheduleMonteCarlo.scheduleRiskIndex", fmt.Sprint(s.RiskIndex), "0 to 1", "The index is no share.", "Readers compare it.")
	wrong(t.Confidence < 0 || t.Confidence > 1, "confidence", fmt.Sprint(t.Confidence), "0 to 1", "The confidence is no share.", "Ranges are read by it.")
	list = append(list, finishes(t)...)
	sum := 0.0
	for _, k := range s.Sensitivities {
		sum += k.Share
	}
	wrong(math.Abs(sum-1) > 0.01 && s.StdDev > 0, "scheduleMonteCarlo.taskSensitivities", fmt.Sprintf("%.3f", sum), "1.00 ± 0.01",
		"The shares of variance do not sum to 1.", "They are shares of one whole.")
	counted := 0
	for _, b := range s.Histogram {
		counted += b.Count
	}
	wrong(counted != s.Iterations, "scheduleMonteCarlo.histogram", fmt.Sprint(counted), fmt.Sprint(s.Iterations),
		"The counts do not sum to the iterations.", "The chart would not show the distribution that the figures describe.")
	if len(list) > 0 {
		return agent.Gate(list...)
	}
	if s.P50 < t.Duration-0.5 {
		return agent.Partial(50, found("scheduleMonteCarlo.p50Days", days(s.P50), "at least "+days(t.Duration), "Half of the simulated schedules are shorter than the plan.", "Where paths merge, the later one counts, so a plan is optimistic."))
	}
	return agent.Full()
}

func milestones(_ estimate.Context, t *estimate.Timeline) agent.Grade {
	if len(t.Milestones) == 0 {
		return agent.Gate(found("milestones", "none", "at least 4", "There are no milestones.", "The client follows them."))
	}
	var list []agent.Finding
	if len(t.Milestones) < 4 {
		list = append(list, found("milestones", fmt.Sprint(len(t.Milestones)), "at least 4", "Milestones are missing.", "The client follows them."))
	}
	for i, m := range t.Milestones {
		if m.Date.Before(t.Start.Time) || m.Date.After(t.End.Time) || m.Name == "" {
			return agent.Gate(found(fmt.Sprintf("milestones[%d].date", i), m.Date.String(), fmt.Sprintf("%s to %s", t.Start, t.End), "A milestone lies outside the job.", "The client follows them."))
		}
	}
	return agent.Deduct(40, list)
}

// plausible compares the duration with that of the kind of job.
func plausible(ctx estimate.Context, t *estimate.Timeline) agent.Grade {
	usual := 0.0
	if ctx.Scope != nil {
		if p := catalog.ProjectTypeByKey(ctx.Scope.ProjectKey); p != nil {
			usual = p.WorkingDays
			if ctx.Cost != nil && p.HoursCheck > 0 {
				// A larger job of the kind takes longer, if less than in proportion.
				usual *= math.Sqrt(math.Max(0.25, ctx.Cost.Subtotals.LaborHours/p.HoursCheck))
			}
		}
	}
	if usual == 0 || t.Duration <= 0 {
		return agent.Full()
	}
	f := found("totalDuration", days(t.Duration), fmt.Sprintf("about %.0f days for this kind of job", usual),
		"The duration is unlike that of comparable jobs.", "Either the hours or the waits are wrong.")
	switch ratio := t.Duration / usual; {
	case ratio > 6 || ratio < 0.15:
		return agent.Gate(f)
	case ratio > 3.5 || ratio < 0.4:
		f.Fix, f.HowToFix = agent.AskUser, "Check the lead times and the class of the permit with the client."
		return agent.Partial(50, f)
	}
	return agent.Full()
}

// reproducible plans the cost again and compares task by task.
func reproducible(ctx estimate.Context, t *estimate.Timeline) agent.Grade {
	again, err := schedule.Plan(ctx, intake.Stream(ctx.Clarification, "timeline"))
	if err != nil {
		return agent.Full() // what is missing to plan is not the output's fault
	}
	var list []agent.Finding
	has := map[string]int{}
	for i, k := range t.Tasks {
		has[k.ID] = i
	}
	for _, k := range again.Tasks {
		i, ok := has[k.ID]
		switch {
		case !ok:
			list = append(list, found("tasks", "no "+k.ID, k.ID+": "+k.Name, "An activity of the job is missing.", "The priced lines hold work for it."))
		case math.Abs(t.Tasks[i].Duration-k.Duration) > math.Max(1, 0.3*k.Duration):
			list = append(list, found(fmt.Sprintf("tasks[%d].duration", i), days(t.Tasks[i].Duration), days(k.Duration), "Planned again, the activity takes another time.", "The output does not follow from the cost."))
		}
	}
	if math.Abs(again.Simulation.P80-t.Simulation.P80) > math.Max(2, 0.05*again.Simulation.P80) {
		list = append(list, found("scheduleMonteCarlo.p80Days", days(t.Simulation.P80), days(again.Simulation.P80), "Simulated again, the schedule ends at another time.", "The output does not follow from the cost."))
	}
	return graded(list)
}
