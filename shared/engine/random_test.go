package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// randomFlow draws a graph of one to six nodes with everything a flow can have,
// and the facts that its conditions read.
func randomFlow(t *rapid.T, policies ...Exhausted) Flow {
	f := Flow{ID: "random", Engine: 1, Budget: time.Hour, MaxParallel: rapid.IntRange(0, 3).Draw(t, "maxParallel")}
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		name := string(rune('a' + i))
		n := Node{
			Name: name, Agent: name, Weight: rapid.IntRange(0, 20).Draw(t, "weight"), Timeout: time.Minute,
			Retry: Retry{Tries: rapid.IntRange(1, 3).Draw(t, "tries"), Base: time.Second, Cap: time.Minute},
		}
		for _, earlier := range f.Nodes {
			if rapid.Bool().Draw(t, "need") {
				n.Needs = append(n.Needs, earlier.Name)
			}
		}
		if rapid.Bool().Draw(t, "gate") {
			n.Gate = &Gate{
				Scorer: name + "_scorer", Critic: name + "_critic", Threshold: 80,
				Retries: rapid.IntRange(0, 3).Draw(t, "retries"), Exhausted: rapid.SampledFrom(policies).Draw(t, "exhausted"),
			}
		}
		if len(n.Needs) > 0 && rapid.IntRange(0, 3).Draw(t, "when") == 0 {
			n.When = []Condition{{Fact: n.Needs[0] + ".size", Is: AtLeast, Value: 5.0}}
		}
		if rapid.IntRange(0, 3).Draw(t, "fanOut") == 0 {
			n.FanOut = &FanOut{Over: "input.items", Chunk: 1, MaxParallel: 10, OnItemError: Collect}
		}
		if rapid.IntRange(0, 4).Draw(t, "pause") == 0 {
			n.Pause = &Pause{Prompt: "May it?"}
		}
		f.Nodes = append(f.Nodes, n)
	}
	if err := f.Check(); err != nil {
		t.Fatalf("the generator drew a bad flow: %v", err)
	}
	return f
}

// history plays events against a flow, holds every invariant at each of them and
// keeps those that were applied.
type history struct {
	t       *rapid.T
	flow    *Flow
	state   State
	now     time.Time
	applied []dated
	seen    map[StepID]bool // steps that were open at some time
	asked   map[string]bool // questions that were put at some time
}

type dated struct {
	event Event
	at    time.Time
}

func begin(t *rapid.T, f *Flow) *history {
	h := &history{t: t, flow: f, now: epoch, seen: map[StepID]bool{}, asked: map[string]bool{}}
	h.play(Started{EstimateID: "e", Owner: "o", N: 1})
	return h
}

func (h *history) play(e Event) {
	h.t.Helper()
	next, effects, v := Next(h.flow, h.state, e, h.now)
	if err := check(h.flow, h.state, next, e, effects, v); err != nil {
		h.t.Fatalf("%#v: %v", e, err)
	}
	if v == Applied {
		h.applied = append(h.applied, dated{e, h.now})
		h.twice(next, e)
	}
	for id := range next.Open {
		h.seen[id] = true
	}
	for _, q := range effects.Ask {
		h.asked[q.ID] = true
	}
	h.state = next
}

// twice: what is no try of a call and no deadline is stale the second time.
func (h *history) twice(s State, e Event) {
	h.t.Helper()
	if _, ok := e.(Retryable); ok {
		return
	}
	if d, ok := e.(DeadlinePassed); ok && d.Step != "" {
		return
	}
	if _, _, v := Next(h.flow, s, e, h.now); v != Stale {
		h.t.Fatalf("%#v comes twice and the second time is %s", e, v)
	}
}

// draw picks an event: mostly for what is open or was once, now and then one that
// stops everything.
func (h *history) draw() Event {
	t := h.t
	id := rapid.SampledFrom(slices.Sorted(maps.Keys(h.seen))).Draw(t, "step")
	r, _ := id.Ref()
	switch rapid.IntRange(0, 19).Draw(t, "kind") {
	case 0:
		return Finished{Step: id, Failure: &Error{Code: CodeAgentFailed, Message: "broke"}}
	case 1, 2:
		return Retryable{Step: id, After: time.Duration(rapid.IntRange(0, 7200).Draw(t, "after")) * time.Second, Failure: Error{Code: CodeAgentFailed}}
	case 3:
		return Retryable{Step: id, Working: true, After: time.Second}
	case 4:
		return DeadlinePassed{Step: id, Since: h.now.Add(-time.Duration(rapid.IntRange(0, 200).Draw(t, "age")) * time.Second)}
	case 5:
		if r.Role == RolePrimary {
			return InputNeeded{Step: id, Prompt: "Which one?"}
		}
	case 6, 7:
		if len(h.asked) > 0 {
			return h.decide(rapid.SampledFrom(slices.Sorted(maps.Keys(h.asked))).Draw(t, "question"))
		}
	case 8:
		return HoldRequested{By: "o", Reason: "wait"}
	case 9, 10:
		return ResumeRequested{By: "o"}
	case 11, 12:
		return ShardsDone{Node: r.Node, Attempt: r.Attempt, Failed: rapid.IntRange(0, 3).Draw(t, "failed")}
	case 13:
		return h.stop()
	}
	return h.finish(id, rapid.IntRange(0, 100).Draw(t, "score"))
}

func (h *history) decide(id string) Event {
	decision := rapid.SampledFrom([]Decision{Answer, Answer, Accept, GiveUp}).Draw(h.t, "decision")
	return InputGiven{ID: id, By: "o", Decision: decision}
}

func (h *history) stop() Event {
	switch rapid.IntRange(0, 20).Draw(h.t, "stop") {
	case 0:
		return CancelRequested{By: "o"}
	case 1:
		for id := range h.asked {
			return DeadlinePassed{Input: id}
		}
	}
	return DeadlinePassed{}
}

// finish is the good end of a step.
func (h *history) finish(id StepID, score int) Event {
	e := Finished{Step: id, Score: score}
	r, _ := id.Ref()
	if r.Role == RoleExpand {
		fan := h.flow.Node(r.Node).FanOut.Fan(score % 20)
		e.Fan = &fan
	} else if r.Role != RoleCritic {
		e.Facts = map[string]any{r.Node + ".size": float64(score % 10)}
	}
	return e
}

// due is what the world owes the run, if everybody does what is asked of them.
func (h *history) due() []Event {
	var events []Event
	if h.state.Hold != nil {
		events = append(events, ResumeRequested{By: "o"})
	}
	for _, n := range h.flow.Nodes {
		switch p := h.state.Nodes[n.Name]; {
		case p.Phase == Fanning:
			events = append(events, ShardsDone{Node: n.Name, Attempt: p.Attempt})
		case p.Phase == Waiting && p.Ask.Kind == AskExhausted:
			events = append(events, InputGiven{ID: p.Ask.ID, Decision: Accept})
		case p.Phase == Waiting:
			events = append(events, InputGiven{ID: p.Ask.ID, Decision: Answer})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(h.state.Open)) {
		events = append(events, h.finish(id, 95))
	}
	return events
}

// drain brings the run to its end by what is due, and fails when it has none.
func (h *history) drain() {
	h.t.Helper()
	for i := 0; !h.state.Status.Ended(); i++ {
		events := h.due()
		if i > 300 || len(events) == 0 {
			h.t.Fatalf("the run does not end: %+v", h.state.Nodes)
		}
		h.now = h.now.Add(time.Second)
		h.play(events[0])
	}
}

// TestRandomHistories plays random events against random flows, duplicates and
// late ones included, and holds every invariant at every step (I2–I5, I7–I9);
// whatever happened, a run whose steps all answer ends (I10).
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := randomFlow(t, Fail, Degrade, Ask)
		h := begin(t, &f)
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			if len(h.seen) == 0 {
				break
			}
			h.now = h.now.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "pause")) * time.Second)
			h.play(h.draw())
		}
		h.drain()
		ended := h.state
		for id := range h.seen {
			h.play(h.finish(id, 100))
		}
		h.play(CancelRequested{By: "o"})
		if diff := cmp.Diff(ended, h.state); diff != "" {
			t.Fatalf("a run that ended changed:\n%s", diff)
		}
	})
}

// TestHistoryFolds: I18. The events that were applied, played again from nothing
// over a state that is stored and read between any two of them, give the state.
func TestHistoryFolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := randomFlow(t, Fail, Degrade, Ask)
		h := begin(t, &f)
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			if len(h.seen) == 0 {
				break
			}
			h.now = h.now.Add(time.Second)
			h.play(h.draw())
		}
		var s State
		for i, d := range h.applied {
			next, _, v := Next(&f, stored(t, s), d.event, d.at)
			if v != Applied {
				t.Fatalf("event %d, %#v, is %s the second time round", i, d.event, v)
			}
			s = next
		}
		if diff := cmp.Diff(h.state, stored(t, s), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the fold differs (-stored +folded):\n%s", diff)
		}
	})
}

func encoded(t *rapid.T, s State) string {
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// stored is the state as it comes back from a document.
func stored(t *rapid.T, s State) State {
	var back State
	if err := json.Unmarshal([]byte(encoded(t, s)), &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// agents answer by the name of the step alone, as deterministic ones do.
func (h *history) answer(id StepID) Event {
	sum := 0
	for _, b := range []byte(id) {
		sum = sum*31 + int(b)
	}
	r, _ := id.Ref()
	if r.Role == RolePrimary && r.Turn == 0 && sum%5 == 0 {
		return InputNeeded{Step: id, Prompt: "Which one?"}
	}
	return h.finish(id, 60+sum%41)
}

// TestOrderDoesNotMatter: I13. The events of a finished history, doubled and in
// any order until nothing is left to happen, lead to the same end. (No node can
// fail here: which of two failures a run ends with is a matter of time.)
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := randomFlow(t, Degrade, Ask)
		first := begin(t, &f)
		for !first.state.Status.Ended() {
			events := first.due()
			if len(first.state.Open) > 0 {
				events = []Event{first.answer(slices.Sorted(maps.Keys(first.state.Open))[0])}
			}
			first.play(events[0])
		}
		second := begin(t, &f)
		bag := first.applied[1:]
		for round := 0; !second.state.Status.Ended(); round++ {
			if round > len(bag) {
				t.Fatalf("the events of a finished history do not finish it: %+v", second.state.Nodes)
			}
			for _, d := range rapid.Permutation(slices.Concat(bag, bag)).Draw(t, "order") {
				second.play(d.event)
			}
		}
		if diff := cmp.Diff(first.state, second.state, cmp.Comparer(sameTime), cmp.Comparer(sameMoment), cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
			t.Fatalf("another order, another end (-in order +not):\n%s", diff)
		}
	})
}

func sameTime(time.Time, time.Time) bool { return true }

func sameMoment(a, b *time.Time) bool { return (a == nil) == (b == nil) }

func TestNextIsPure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := randomFlow(t, Fail, Degrade, Ask)
		h := begin(t, &f)
		for range rapid.IntRange(0, 20).Draw(t, "events") {
			if len(h.seen) > 0 {
				h.play(h.draw())
			}
		}
		if len(h.seen) == 0 {
			return
		}
		before, e := encoded(t, h.state), h.draw()
		first, effects, _ := Next(&f, h.state, e, h.now)
		second, again, _ := Next(&f, h.state, e, h.now)
		if diff := cmp.Diff(first, second) + cmp.Diff(effects, again); diff != "" {
			t.Fatalf("Next gave two answers (-first +second):\n%s", diff)
		}
		if after := encoded(t, h.state); before != after {
			t.Fatalf("Next changed its argument:\n%s\n%s", before, after)
		}
	})
}
