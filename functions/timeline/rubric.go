package timeline

import (
	"fmt"
	"math"
	"slices"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/schedule"
)

// rubric lists the checks of estimating practice §10 (T1–T13) and of domain rule
// R16.
func rubric() agent.Rubric[estimate.Context, estimate.Timeline] {
	return agent.Rubric[estimate.Context, estimate.Timeline]{
		{Name: "schedule_present", Weight: 7, Check: present},
		{Name: "belongs_to_estimate", Weight: 1, Check: belongs},
		{Name: "tasks_valid", Weight: 8, Check: tasks},
		{Name: "network_sound", Weight: 10, Check: network},
		{Name: "dependencies_respected", Weight: 10, Check: dependencies},
		{Name: "critical_path_is_longest", Weight: 10, Check: criticalPath},
		{Name: "durations_match_hours", Weight: 10, Check: durations},
		{Name: "working_calendar", Weight: 10, Check: calendar},
		{Name: "inspections", Weight: 8, Check: inspections},
		{Name: "order_of_trades", Weight: 5, Check: sequence},
		{Name: "weather_on_exterior_work", Weight: 4, Check: weather},
		{Name: "simulation", Weight: 6, Check: simulation},
		{Name: "milestones", Weight: 4, Check: milestones},
		{Name: "duration_plausible", Weight: 4, Check: plausible},
		{Name: "follows_from_cost", Weight: 3, Check: reproducible},
	}
}

func belongs(ctx estimate.Context, t *estimate.Timeline) agent.Grade {
	return agent.Belongs(ctx, t.EstimateID)
}

// found is a finding that the primary can mend by planning again.
func found(path, observed, expected, issue, why string) agent.Finding {
	return agent.Finding{
		Path: path, Observed: observed, Expected: expected, Issue: issue, Why: why,
		HowToFix: "Plan again from the hours of the cost output.", Fix: agent.Recompute,
	}
}

// graded is a gate when anything was found, else full marks.
func graded(list []agent.Finding) agent.Grade {
	if len(list) > 0 {
		return agent.Gate(list...)
	}
	return agent.Full()
}

func present(_ estimate.Context, t *estimate.Timeline) agent.Grade {
	if len(t.Tasks) == 0 {
		return agent.Missing(found("tasks", "none", "the activities of the job", "There is no schedule.", "Nothing can be planned on it."))
	}
	if t.Duration <= 0 || t.Start.IsZero() || t.End.IsZero() {
		return agent.Missing(found("totalDuration", fmt.Sprintf("%g days from %s to %s", t.Duration, t.Start, t.End), "a positive duration between two dates",
			"The schedule has no extent.", "Nothing can be planned on it."))
	}
	return agent.Full()
}

// longestTask bounds one activity, in working days.
const longestTask = 130

func tasks(_ estimate.Context, t *estimate.Timeline) agent.Grade {
	var list []agent.Finding
	seen := map[string]bool{}
	for i, k := range t.Tasks {
		path := fmt.Sprintf("tasks[%d]", i)
		if k.ID == "" || k.Name == "" || seen[k.ID] {
			list = append(list, found(path+".id", k.ID, "a name and an id of its own", "A task cannot be told from another.", "Dependencies name ids."))
		}
		seen[k.ID] = true
		if !slices.Contains(schedule.Phases(), k.Phase) {
			list = append(list, found(path+".phase", k.Phase, "one of the twelve phases", "A phase is unknown.", "The chart groups by phase."))
		}
		if bad := math.IsNaN(k.Duration) || k.Duration < 0 || k.Duration > longestTask || (k.Duration < 0.5 && !k.Milestone); bad {
			list = append(list, found(path+".duration", days(k.Duration), fmt.Sprintf("half a day to %d days", longestTask), "A duration is absurd.", "It decides the dates of all that follows."))
		}
	}
	return graded(list)
}

// nodes returns the network of the tasks.
func nodes(t *estimate.Timeline) []schedule.Node {
	list := make([]schedule.Node, len(t.Tasks))
	for i, k := range t.Tasks {
		list[i] = schedule.Node{ID: k.ID, Duration: k.Duration}
		for _, l := range k.Links {
			list[i].Links = append(list[i].Links, schedule.Link{On: l.On, Relation: l.Relation, Lag: l.Lag})
		}
	}
	return list
}

func network(_ estimate.Context, t *estimate.Timeline) agent.Grade {
	if _, _, err := schedule.CPM(nodes(t)); err != nil {
		return agent.Gate(found("tasks", err.Error(), "an acyclic network whose links name its tasks", "The network cannot be computed.", "A cycle has no dates."))
	}
	var list []agent.Finding
	followed := map[string]bool{}
	starts, ends := 0, 0
	for i, k := range t.Tasks {
		on := make([]string, len(k.Links))
		for j, l := range k.Links {
			on[j] = l.On
			followed[l.On] = true
		}
		if !slices.Equal(on, k.Dependencies) {
			list = append(list, found(fmt.Sprintf("tasks[%d].dependencies", i), fmt.Sprint(k.Dependencies), fmt.Sprint(on), "The two lists of dependencies disagree.", "Charts read one, the computation the other."))
		}
		if len(on) == 0 {
			starts++
		}
	}
	for _, k := range t.Tasks {
		if !followed[k.ID] {
			ends++
		}
	}
	if starts != 1 || ends != 1 {
		list = append(list, found("tasks", fmt.Sprintf("%d starts, %d finishes", starts, ends), "one of each", "A task hangs loose.", "What nothing waits for can slip unseen."))
	}
	return graded(list)
}

func dependencies(_ estimate.Context, t *estimate.Timeline) agent.Grade {
	at := map[string]*estimate.Task{}
	for i := range t.Tasks {
		at[t.Tasks[i].ID] = &t.Tasks[i]
	}
	var list []agent.Finding
	for i, k := range t.Tasks {
		for _, l := range k.Links {
			p := at[l.On]
			if p == nil {
				continue // network says so
			}
			earliest, date, soon := p.EF+l.Lag, p.End, k.Start.Before(p.End.Time)
			if l.Relation == schedule.StartToStart {
				earliest, date, soon = p.ES+l.Lag, p.Start, k.Start.Before(p.Start.Time)
			}
			if soon || k.ES < earliest-1e-6 {
				list = append(list, found(fmt.Sprintf("tasks[%d].start", i), fmt.Sprintf("%s, day %g", k.Start, k.ES), fmt.Sprintf("not before %s, day %g", date, earliest),
					fmt.Sprintf("%s starts before %s allows it.", k.Name, p.Name), "Work cannot begin on work that is not there."))
			}
		}
	}
	return graded(list)
}

func criticalPath(_ estimate.Context, t *estimate.Timeline) agent.Grade {
	times, longest, err := schedule.CPM(nodes(t))
	if err != nil {
		return agent.Gate(found("criticalPath", err.Error(), "a path", "There is no critical path.", "The network cannot be computed."))
	}
	var list []agent.Finding
	if math.Abs(longest-t.Duration) > 1e-6 {
		list = append(list, found("totalDuration", days(t.Duration), days(longest), "The duration is not the length of the longest path.", "It is neither the sum of all tasks nor a guess."))
	}
	at := map[string]int{}
	for i, k := range t.Tasks {
		at[k.ID] = i
		if critical := times[i].Float < 1e-6; critical != k.Critical || math.Abs(times[i].Float-k.Float) > 1e-6 {
			list = append(list, found(fmt.Sprintf("tasks[%d].isCritical", i), fmt.Sprintf("%v, float %g", k.Critical, k.Float), fmt.Sprintf("%v, float %g", critical, times[i].Float),
				"A float is wrong.", "It says what may slip."))
		}
	}
	return graded(append(list, longestPath(t, times, at, longest)...))
}

// longestPath checks that the path named is a chain of links without slack from
// the start to the finish.
func longestPath(t *estimate.Timeline, times []schedule.Times, at map[string]int, longest float64) []agent.Finding {
	bad := func(i int, observed, issue string) []agent.Finding {
		return []agent.Finding{found(fmt.Sprintf("criticalPath[%d]", i), observed, "the tasks of one longest path, in order", issue, "It is where the client's attention goes.")}
	}
	if len(t.CriticalPath) == 0 {
		return bad(0, "nothing", "No critical path is named.")
	}
	for i, id := range t.CriticalPath {
		k, ok := at[id]
		switch {
		case !ok:
			return bad(i, id, "The critical path names a task that does not exist.")
		case times[k].Float > 1e-6:
			return bad(i, id, "A task with float stands on the critical path.")
		case i > 0 && !slices.Contains(t.Tasks[k].Dependencies, t.CriticalPath[i-1]):
			return bad(i, id, "The critical path is broken.")
		}
	}
	first, last := at[t.CriticalPath[0]], at[t.CriticalPath[len(t.CriticalPath)-1]]
	if times[first].ES > 1e-6 || math.Abs(times[last].EF-longest) > 1e-6 {
		return bad(0, fmt.Sprintf("day %g to day %g", times[first].ES, times[last].EF), "The critical path does not reach from start to finish.")
	}
	return nil
}

// productive is the share of a paid hour that moves the work.
const productive = 0.85

func durations(ctx estimate.Context, t *estimate.Timeline) agent.Grade {
	var list []agent.Finding
	hours := t.ThroughHours
	for i, k := range t.Tasks {
		hours += k.LaborHours
		if k.LaborHours <= 0 || k.Crew <= 0 {
			continue
		}
		want := math.Max(least(k.ID), math.Ceil(k.LaborHours/(k.Crew*8*productive)-1e-6))
		if got := k.Duration - k.WeatherDays; math.Abs(got-want) > math.Max(0.5, 0.3*want) {
			list = append(list, found(fmt.Sprintf("tasks[%d].duration", i), days(got), fmt.Sprintf("%s: %.1f hours by a crew of %g", days(want), k.LaborHours, k.Crew),
				"A duration does not match its hours.", "Durations come from hours and crews, not from taste."))
		}
	}
	if ctx.Cost != nil && math.Abs(hours-ctx.Cost.Subtotals.LaborHours) > math.Max(0.5, 0.01*ctx.Cost.Subtotals.LaborHours) {
		list = append(list, found("tasks[].laborHours", fmt.Sprintf("%.1f hours in all", hours), fmt.Sprintf("%.1f hours", ctx.Cost.Subtotals.LaborHours),
			"The hours of the tasks are not those of the cost.", "The schedule would plan another job."))
	}
	return graded(list)
}

// least is the catalogue's minimum for the activity of a task, at least a day.
func least(id string) float64 {
	for _, a := range catalog.Activities() {
		if schedule.ID(a.Seq) == id {
			return math.Max(1, a.MinDays)
		}
	}
	return 1
}

func days(d float64) string { return fmt.Sprintf("%g days", d) }
