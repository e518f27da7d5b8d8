package timeline

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/schedule"
	"truecost.dev/shared/fault"
)

func output(t *testing.T, ctx estimate.Context) estimate.Timeline {
	t.Helper()
	tl, err := plan(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

func TestRealJobs(t *testing.T) {
	t.Parallel()
	for _, name := range sample.Names() {
		ctx := sample.Simulated(t, name)
		tl := output(t, ctx)
		s := rubric().Judge(ctx, &tl)
		if s.Score < 85 {
			t.Errorf("%s: score %d, want at least 85: %s", name, s.Score, s.Feedback)
		}
		sim := &tl.Simulation
		if sim.P80 < sim.P50 || sim.P50 < tl.Duration {
			t.Errorf("%s: plan %g, P50 %g, P80 %g, want them in order", name, tl.Duration, sim.P50, sim.P80)
		}
		if tl.StartAssumed != (ctx.Clarification.Brief.Timeline.Start == nil) {
			t.Errorf("%s: startDateAssumed = %v", name, tl.StartAssumed)
		}
		phases := map[string]bool{}
		for _, k := range tl.Tasks {
			phases[k.Phase] = true
		}
		t.Logf("%s: %s score %d, %d tasks in %d phases", name, tl.Summary, s.Score, len(tl.Tasks), len(phases))
	}
}

func TestSameJobSameNumbers(t *testing.T) {
	t.Parallel()
	ctx := sample.Simulated(t, "kitchen")
	want := output(t, ctx)
	other := sample.Simulated(t, "kitchen")
	other.EstimateID, other.Clarification.EstimateID = "another", "another"
	for d := range other.Cost.Divisions {
		slices.Reverse(other.Cost.Divisions[d].Lines)
	}
	got := output(t, other)
	got.EstimateID = want.EstimateID
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	if string(a) != string(b) {
		t.Errorf("the same job under two ids gives different documents:\n%s\n%s", a, b)
	}
}

func TestDurationFollowsHours(t *testing.T) {
	t.Parallel()
	ctx := sample.Simulated(t, "addition")
	before := output(t, ctx)
	for _, l := range ctx.Cost.Lines {
		l.LaborHours *= 3
	}
	ctx.Cost.Subtotals.LaborHours *= 3
	if after := output(t, ctx); after.Duration <= before.Duration {
		t.Errorf("three times the hours take %g days, the hours themselves %g", after.Duration, before.Duration)
	}
}

// A November roof is not a June roof.
func TestSeasonMatters(t *testing.T) {
	t.Parallel()
	ctx := sample.Simulated(t, "deck")
	lost := map[time.Month]float64{}
	for _, month := range []time.Month{time.January, time.July} {
		start := estimate.NewDate(2027, month, 11)
		ctx.Clarification.Brief.Timeline.Start = &start
		ctx.Location.Weather.LostDays = [12]float64{12, 10, 8, 5, 3, 2, 1, 1, 2, 4, 8, 12}
		tl := output(t, ctx)
		lost[month] = tl.Weather.ExpectedDelay
		for _, k := range tl.Tasks {
			if !k.Exterior && k.WeatherDays != 0 {
				t.Errorf("%s loses %g days to weather", k.Name, k.WeatherDays)
			}
		}
	}
	if lost[time.January] < 3*lost[time.July] {
		t.Errorf("January loses %g days, July %g", lost[time.January], lost[time.July])
	}
}

func TestStartAndDeadline(t *testing.T) {
	t.Parallel()
	ctx := sample.Simulated(t, "deck")
	wishes := &ctx.Clarification.Brief.Timeline

	saturday := estimate.NewDate(2026, time.July, 4) // observed on Friday the 3rd
	wishes.Start = &saturday
	tl := output(t, ctx)
	if tl.Start.String() != "2026-07-06" || tl.StartAssumed || len(tl.Warnings) == 0 {
		t.Errorf("wished %s: start %s, assumed %v, warnings %v; want Monday with a warning", saturday, tl.Start, tl.StartAssumed, tl.Warnings)
	}

	wishes.Start = nil
	ctx.Clarification.Timestamp = time.Date(2026, 3, 4, 15, 0, 0, 0, time.UTC)
	tl = output(t, ctx)
	if tl.Start.String() != "2026-03-23" || !tl.StartAssumed || !tl.NeedsReview {
		t.Errorf("no wish: start %s, assumed %v, review %v; want Monday 2026-03-23, assumed", tl.Start, tl.StartAssumed, tl.NeedsReview)
	}

	soon := estimate.NewDate(2026, time.March, 27)
	wishes.Deadline, wishes.Flexibility = &soon, "strict"
	tl = output(t, ctx)
	if tl.DeadlineMet == nil || *tl.DeadlineMet || !tl.NeedsReview || *tl.Simulation.Deadline > 0.1 {
		t.Errorf("a strict deadline of %s: met %v, note %q", soon, tl.DeadlineMet, tl.DeadlineNote)
	}
	late := estimate.NewDate(2027, time.March, 26)
	wishes.Deadline = &late
	if tl = output(t, ctx); !*tl.DeadlineMet || *tl.Simulation.Deadline < 0.99 {
		t.Errorf("a deadline of %s: met %v, probability %g", late, *tl.DeadlineMet, *tl.Simulation.Deadline)
	}
}

func TestEmptyOutputFails(t *testing.T) {
	t.Parallel()
	for _, ctx := range []estimate.Context{{}, sample.Simulated(t, "deck")} {
		if s := rubric().Judge(ctx, &estimate.Timeline{}); s.Score > 30 {
			t.Errorf("{} scores %d, want at most 30", s.Score)
		}
	}
}

func TestWeightsSumTo100(t *testing.T) {
	t.Parallel()
	sum := 0
	for _, c := range rubric() {
		sum += c.Weight
	}
	if sum != 100 || len(rubric()) < 10 {
		t.Errorf("%d criteria weigh %d, want at least 10 that weigh 100", len(rubric()), sum)
	}
}

func task(tl *estimate.Timeline, id string) *estimate.Task {
	i := slices.IndexFunc(tl.Tasks, func(k estimate.Task) bool { return k.ID == id })
	return &tl.Tasks[i]
}

// planted are errors that the rubric must find, and where.
var planted = []struct {
	name string
	path string
	ruin func(tl *estimate.Timeline)
}{
	{"weeks of another duration", "totalWeeks", func(tl *estimate.Timeline) { tl.Weeks /= 2 }},
	{"histogram of another sample", "scheduleMonteCarlo.histogram", func(tl *estimate.Timeline) { tl.Simulation.Histogram[0].Count += 300 }},
	{"deadline met, said missed", "deadlineMet", func(tl *estimate.Timeline) { *tl.DeadlineMet = !*tl.DeadlineMet }},
	{"no chance to meet the deadline", "scheduleMonteCarlo.deadlineProbability", func(tl *estimate.Timeline) { *tl.Simulation.Deadline = 0.05 }},
	{"no milestones", "milestones", func(tl *estimate.Timeline) { tl.Milestones = nil }},
	{"end before the last task", "endDate", func(tl *estimate.Timeline) { tl.End = tl.Start }},
	{"cycle", "tasks", func(tl *estimate.Timeline) {
		k := task(tl, "A06")
		k.Links = append(k.Links, estimate.Dependency{On: "A36", Relation: "FS"})
		k.Dependencies = append(k.Dependencies, "A36")
	}},
	{"unknown predecessor", "tasks", func(tl *estimate.Timeline) { task(tl, "A06").Links[0].On = "A99" }},
	{"task starts before its predecessor ends", "tasks", func(tl *estimate.Timeline) { k := task(tl, "A20"); k.Start = task(tl, "A19").Start; k.ES -= 2 }},
	{"tasks all on one day", "tasks", func(tl *estimate.Timeline) {
		for i := range tl.Tasks {
			tl.Tasks[i].Start, tl.Tasks[i].ES = tl.Start, 0
		}
	}},
	{"start on a Sunday", "startDate", func(tl *estimate.Timeline) { tl.Start = estimate.NewDate(2026, time.May, 3) }},
	{"task on Memorial Day", "tasks", func(tl *estimate.Timeline) { task(tl, "A04").Start = estimate.NewDate(2026, time.May, 25) }},
	{"end on a Saturday", "endDate", func(tl *estimate.Timeline) { tl.End = estimate.NewDate(2026, time.August, 1) }},
	{"calendar days for working days", "tasks", func(tl *estimate.Timeline) {
		for i := range tl.Tasks {
			tl.Tasks[i].End = estimate.DateOf(tl.Start.AddDate(0, 0, int(tl.Tasks[i].EF)))
		}
	}},
	{"calendar span", "totalCalendarDays", func(tl *estimate.Timeline) { tl.CalendarDays = int(tl.Duration) }},
	{"duration twice the hours", "tasks", func(tl *estimate.Timeline) { task(tl, "A24").Duration *= 2 }},
	{"hours from duration", "tasks", func(tl *estimate.Timeline) {
		for i := range tl.Tasks {
			tl.Tasks[i].LaborHours = tl.Tasks[i].Duration * 8
		}
	}},
	{"hours lost", "tasks[].laborHours", func(tl *estimate.Timeline) { task(tl, "A15").LaborHours = 0 }},
	{"absurd duration", "tasks", func(tl *estimate.Timeline) { task(tl, "A21").Duration = 400 }},
	{"negative duration", "tasks", func(tl *estimate.Timeline) { task(tl, "A21").Duration = -1 }},
	{"sum of all tasks called total", "totalDuration", func(tl *estimate.Timeline) {
		tl.Duration = 0
		for _, k := range tl.Tasks {
			tl.Duration += k.Duration
		}
	}},
	{"every task critical", "tasks", func(tl *estimate.Timeline) {
		for i := range tl.Tasks {
			tl.Tasks[i].Critical, tl.Tasks[i].Float = true, 0
		}
	}},
	{"a shorter path called critical", "criticalPath", func(tl *estimate.Timeline) { tl.CriticalPath[2] = "A06" }},
	{"critical path reversed", "criticalPath", func(tl *estimate.Timeline) { slices.Reverse(tl.CriticalPath) }},
	{"no critical path", "criticalPath", func(tl *estimate.Timeline) { tl.CriticalPath = nil }},
	{"no rough inspection", "tasks", func(tl *estimate.Timeline) { remove(tl, "A18") }},
	{"no final inspection", "tasks", func(tl *estimate.Timeline) { remove(tl, "A35") }},
	{"no demolition", "tasks", func(tl *estimate.Timeline) { remove(tl, "A06") }},
	{"a task of its own", "tasks", func(tl *estimate.Timeline) {
		tl.Tasks = append(tl.Tasks, estimate.Task{ID: "X", Name: "Loose end", Phase: "finish", Duration: 1, Start: tl.Start, End: tl.Start, EF: 1})
	}},
	{"unknown phase", "tasks[5].phase", func(tl *estimate.Timeline) { tl.Tasks[5].Phase = "magic" }},
	{"id twice", "tasks", func(tl *estimate.Timeline) { tl.Tasks[4].ID = tl.Tasks[5].ID }},
	{"fixtures before tile", "tasks", func(tl *estimate.Timeline) { k := task(tl, "A28"); k.ES, k.EF = 3, 4 }},
	{"weather on interior work", "tasks", func(tl *estimate.Timeline) { task(tl, "A20").WeatherDays = 1 }},
	{"P80 under P50", "scheduleMonteCarlo.p80Days", func(tl *estimate.Timeline) { tl.Simulation.P80 = tl.Simulation.P50 - 3 }},
	{"range beside the plan", "durationRange", func(tl *estimate.Timeline) { tl.DurationRange.Pessimistic = tl.Duration - 5 }},
	{"a hundred iterations", "scheduleMonteCarlo.iterations", func(tl *estimate.Timeline) { tl.Simulation.Iterations = 100 }},
	{"sensitivities cut", "scheduleMonteCarlo.taskSensitivities", func(tl *estimate.Timeline) { tl.Simulation.Sensitivities = tl.Simulation.Sensitivities[1:] }},
	{"start not marked as wished", "startDateAssumed", func(tl *estimate.Timeline) { tl.StartAssumed = true }},
	{"dependencies only in words", "tasks", func(tl *estimate.Timeline) {
		for i := range tl.Tasks {
			tl.Tasks[i].Links = nil
		}
	}},
}

func remove(tl *estimate.Timeline, id string) {
	tl.Tasks = slices.DeleteFunc(tl.Tasks, func(k estimate.Task) bool { return k.ID == id })
	for i := range tl.Tasks {
		k := &tl.Tasks[i]
		k.Links = slices.DeleteFunc(k.Links, func(l estimate.Dependency) bool { return l.On == id })
		k.Dependencies = slices.DeleteFunc(k.Dependencies, func(on string) bool { return on == id })
	}
}

func TestPlantedErrors(t *testing.T) {
	t.Parallel()
	ctx := sample.Simulated(t, "kitchen")
	clean, err := json.Marshal(output(t, ctx))
	if err != nil {
		t.Fatal(err)
	}
	// Each must be found without doing the whole work again and comparing.
	checks := slices.DeleteFunc(rubric(), func(c agent.Criterion[estimate.Context, estimate.Timeline]) bool {
		return c.Name == "follows_from_cost"
	})
	for _, tt := range planted {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var tl estimate.Timeline
			if err := json.Unmarshal(clean, &tl); err != nil {
				t.Fatal(err)
			}
			tt.ruin(&tl)
			s := checks.Judge(ctx, &tl)
			c := s.Critique()
			if s.Score >= agent.PassMark || len(c.Find(tt.path)) == 0 {
				t.Errorf("score %d, findings at %q: %v; want under 80 and at least one\n%s", s.Score, tt.path, c.Find(tt.path), s.Feedback)
			}
		})
	}
}

func TestPrimaryAnswersEveryFinding(t *testing.T) {
	t.Parallel()
	ctx := sample.Simulated(t, "kitchen")
	bad := output(t, ctx)
	bad.Duration, bad.Simulation.Iterations = 400, 10
	task(&bad, "A20").WeatherDays = 2
	s := rubric().Judge(ctx, &bad)
	c := s.Critique()
	again, err := plan(ctx, &c)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Findings) == 0 || len(again.Revisions) != len(c.Findings) {
		t.Errorf("%d revisions for %d findings", len(again.Revisions), len(c.Findings))
	}
	if s := rubric().Judge(ctx, &again); s.Score < 85 {
		t.Errorf("the revised output scores %d: %s", s.Score, s.Feedback)
	}
}

func TestPartsMayBeMissing(t *testing.T) {
	t.Parallel()
	ctx := sample.Simulated(t, "kitchen")
	ctx.Location, ctx.Risk, ctx.Scope = nil, nil, nil
	tl := output(t, ctx)
	if s := rubric().Judge(ctx, &tl); s.Score < 85 {
		t.Errorf("without location, risk and scope: score %d: %s", s.Score, s.Feedback)
	}
	ctx.Cost = nil
	if _, err := plan(ctx, nil); fault.KindOf(err) != fault.Invalid {
		t.Errorf("plan without a cost = %v, want invalid", err)
	}
	if s := rubric().Judge(ctx, &tl); s.Score < 85 {
		t.Errorf("judged without a cost: score %d: %s", s.Score, s.Feedback)
	}
}

func TestAgents(t *testing.T) {
	t.Parallel()
	specs := Agents()
	for i, want := range []string{"timeline", "timeline_scorer", "timeline_critic"} {
		if specs[i].Name != want {
			t.Errorf("agent %d is %s, want %s", i, specs[i].Name, want)
		}
	}
	if _, err := specs[0].Serve(t.Context(), a2a.Request{EstimateID: "x", Input: json.RawMessage(`{}`)}); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "cost_output") {
		t.Errorf("timeline without a cost = %v, want an invalid cost_output", err)
	}
	raw, err := specs[1].Serve(t.Context(), a2a.Request{Input: json.RawMessage(`{}`), Output: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	var s agent.Score
	if err := json.Unmarshal(raw, &s); err != nil || s.Score > 30 || s.Passed {
		t.Errorf("timeline_scorer of {} = %s, %v, want at most 30", raw, err)
	}
}

func TestCriticalPathOfThePlan(t *testing.T) {
	t.Parallel()
	tl := output(t, sample.Simulated(t, "addition"))
	times, duration, err := schedule.CPM(nodes(&tl))
	if err != nil || duration != tl.Duration {
		t.Fatalf("CPM of the tasks = %g, %v, want %g", duration, err, tl.Duration)
	}
	for i, k := range tl.Tasks {
		if times[i].ES != k.ES || times[i].LF != k.LF {
			t.Errorf("%s: %+v, the plan says ES %g, LF %g", k.Name, times[i], k.ES, k.LF)
		}
	}
}
