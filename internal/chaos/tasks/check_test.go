package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/internal/chaos/ledger"
	"truecost.dev/internal/chaos/supervise"
	"truecost.dev/internal/chaos/tasks/walk"
	"truecost.dev/shared/a2a/task"
)

// sound is an errand of two steps with the record and the log of its task, which
// was taken over once.
func sound() (*errand, task.Record, []task.Entry) {
	chunk := func(try, step int) *sdk.TaskArtifactUpdateEvent {
		return &sdk.TaskArtifactUpdateEvent{Append: step > 0, Artifact: &sdk.Artifact{
			ID: "walk", Parts: sdk.ContentParts{sdk.NewTextPart(walk.Footprint(try, step))},
		}}
	}
	e := &errand{world: &world{}, id: "m", way: streams, plan: walk.Plan{Steps: 2}, task: "t", heard: map[string]string{}}
	end := &sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: sdk.TaskStateCompleted}}
	log := []task.Entry{{Seq: 1, Event: chunk(1, 0)}, {Seq: 2, Event: chunk(2, 0)}, {Seq: 3, Event: chunk(2, 1)}, {Seq: 4, Event: end}}
	whole := &sdk.Artifact{ID: "walk", Parts: sdk.ContentParts{sdk.NewTextPart(walk.Walked(2, 2))}}
	return e, task.Record{
		Agent: walk.Name, ID: "t", Seq: 4, Tries: 2,
		Task: &sdk.Task{ID: "t", Status: end.Status, Artifacts: []*sdk.Artifact{whole}},
	}, log
}

func TestSoundTasksPass(t *testing.T) {
	t.Parallel()
	e, r, log := sound()
	text, err := task.EncodeEvent(log[1].Event)
	if err != nil {
		t.Fatal(err)
	}
	e.hear(modern, "2", string(text))
	e.hear(modern, "2", string(text))
	e.check(r, log, &tally{})
	if found := e.Violations(); len(found) > 0 {
		t.Errorf("check(a sound task) found %q", found)
	}
}

func TestChecksFindWhatIsBroken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, rule string
		damage     func(e *errand, r *task.Record, log *[]task.Entry)
	}{
		{"two ends", "log", func(_ *errand, r *task.Record, log *[]task.Entry) {
			*log = append(*log, task.Entry{Seq: 5, Event: (*log)[3].Event})
			r.Seq = 5
		}},
		{"no end", "log", func(_ *errand, r *task.Record, log *[]task.Entry) { *log, r.Seq = (*log)[:3], 3 }},
		{"an end that is not the task's", "log", func(_ *errand, r *task.Record, _ *[]task.Entry) { r.Task.Status.State = sdk.TaskStateFailed }},
		{"an end nobody foretold", "end", func(e *errand, _ *task.Record, _ *[]task.Entry) { e.plan.Stumble = true }},
		{"a frame that the log does not have", "frames", func(e *errand, _ *task.Record, _ *[]task.Entry) { e.hear(modern, "2", `{"message":{}}`) }},
		{"two frames of one number", "frames", func(e *errand, _ *task.Record, _ *[]task.Entry) {
			e.hear(fiveStep, "2", "one")
			e.hear(fiveStep, "2", "another")
		}},
		{"a task that is not its events", "task", func(_ *errand, r *task.Record, _ *[]task.Entry) {
			r.Task.Artifacts[0].Parts[0] = sdk.NewTextPart(walk.Walked(1, 2))
		}},
		{"a walk of two runs", "task", func(_ *errand, r *task.Record, log *[]task.Entry) {
			(*log)[2].Event.(*sdk.TaskArtifactUpdateEvent).Artifact.Parts[0] = sdk.NewTextPart(walk.Footprint(1, 1))
			r.Task.Artifacts[0].Parts[0] = sdk.NewTextPart(walk.Footprint(2, 0) + walk.Footprint(1, 1))
		}},
	} {
		e, r, log := sound()
		tt.damage(e, &r, &log)
		e.check(r, log, &tally{})
		if found := e.Violations(); !slices.ContainsFunc(found, func(v string) bool { return strings.HasPrefix(v, tt.rule+" ") }) {
			t.Errorf("%s: found %q, want a breach of %s", tt.name, found, tt.rule)
		}
	}
}

// Runs that nothing excuses are found in the ledgers.
func TestLedgersAreChecked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		lives [2][][]string // of each walker, the runs begun in each
		tries int
		bad   bool
	}{
		{"begun once", [2][][]string{{{"t#1"}}, {{}}}, 1, false},
		{"cut off by a death", [2][][]string{{{"t#1"}, {}}, {{"t#2"}}}, 2, false},
		{"begun twice", [2][][]string{{{"t#1"}}, {{"t#1"}}}, 1, true},
		{"begun again beside a living one", [2][][]string{{{"t#1"}}, {{"t#2"}}}, 2, true},
		{"a run the task does not know", [2][][]string{{{"t#1"}, {"t#2"}}, {{}}}, 1, true},
	} {
		w := &world{dir: t.TempDir(), walkers: []*supervise.Process{{Name: "walker1"}, {Name: "walker2"}}}
		for i, lives := range tt.lives {
			for _, runs := range lives {
				l, err := ledger.Open(w.ledgerPath(i))
				if err != nil {
					t.Fatal(err)
				}
				for _, run := range runs {
					if _, err := l.Begin(walk.Name, run); err != nil {
						t.Fatal(err)
					}
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.checkLedgers(map[string]int{"t": tt.tries})
		if found := w.Violations(); (len(found) > 0) != tt.bad {
			t.Errorf("%s: found %q, want a breach: %v (%s)", tt.name, found, tt.bad, filepath.Base(w.dir))
		}
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	var got []frame
	text := ": hello\n\nevent: a\nid: 1\ndata: one\n\ndata: two\n\nid: 3\ndata: cut off"
	if err := frames(strings.NewReader(text), func(f frame) bool { got = append(got, f); return true }); err != nil {
		t.Fatal(err)
	}
	if want := []frame{{"a", "1", "one"}, {"", "", "two"}}; !slices.Equal(got, want) {
		t.Errorf("frames = %+v, want %+v", got, want)
	}
}

func TestWrongFlags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-nonsense"}, {"-clients", "0"}, {"-time", "0s"}, {"now"}} {
		var out, errs strings.Builder
		if code := command(t.Context(), args, &out, &errs); code != 2 || !strings.Contains(errs.String(), "Usage") {
			t.Errorf("command(%q) = %d %s, want 2 and the usage", args, code, &errs)
		}
	}
}
