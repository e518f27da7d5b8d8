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
	if want := int(t.End.Sub(t.Start.Time).Hours()/24) + 1; t.CalendarDays != want {
		list = append(list, found("totalCalendarDays", fmt.Sprint(t.CalendarDays), fmt.Sprint(want), "The calendar days do not span the dates.", "Both are printed."))
	}
	return graded(list)
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

func simulation(_ estimate.Context, t *estimate.Timeline) agent.Grade {
	s := &t.Simulation
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
	r := t.DurationRange
	wrong(!slices.IsSorted([]float64{r.Optimistic, r.Expected, r.Pessimistic}) || r.Optimistic > t.Duration || r.Pessimistic < t.Duration, "durationRange",
		fmt.Sprintf("%g, %g, %g", r.Optimistic, r.Expected, r.Pessimistic), fmt.Sprintf("a range round %g", t.Duration),
		"The range does not hold the plan.", "Then one of them is wrong.")
	sum := 0.0
	for _, k := range s.Sensitivities {
		sum += k.Share
	}
	wrong(math.Abs(sum-1) > 0.01 && s.StdDev > 0, "scheduleMonteCarlo.taskSensitivities", fmt.Sprintf("%.3f", sum), "1.00 ± 0.01",
		"The shares of variance do not sum to 1.", "They are shares of one whole.")
	if len(list) > 0 {
		return agent.Gate(list...)
	}
	if s.P50 < t.Duration-0.5 {
		return agent.Partial(50, found("scheduleMonteCarlo.p50Days", days(s.P50), "at least "+days(t.Duration), "Half of the simulated schedules are shorter than the plan.", "Where paths merge, the later one counts, so a plan is optimistic."))
	}
	return agent.Full()
}

func milestones(_ estimate.Context, t *estimate.Timeline) agent.Grade {
	var list []agent.Finding
	if len(t.Milestones) < 4 {
		list = append(list, found("milestones", fmt.Sprint(len(t.Milestones)), "at least 4", "Milestones are missing.", "The client follows them."))
	}
	for i, m := range t.Milestones {
		if m.Date.Before(t.Start.Time) || m.Date.After(t.End.Time) || m.Name == "" {
			list = append(list, found(fmt.Sprintf("milestones[%d].date", i), m.Date.String(), fmt.Sprintf("%s to %s", t.Start, t.End), "A milestone lies outside the job.", "The client follows them."))
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
