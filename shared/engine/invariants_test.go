package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
)

// check holds the invariants of one transition, whatever the flow.
func check(f *Flow, before, after State, e Event, effects Effects, v Verdict) error {
	if v != Applied {
		if diff := cmp.Diff(before, after); diff != "" {
			return fmt.Errorf("a %s event changed the state:\n%s", v, diff)
		}
		if !cmp.Equal(effects, Effects{}) {
			return fmt.Errorf("a %s event has effects: %+v", v, effects)
		}
		return nil
	}
	return errors.Join(
		checkRun(f, before, after),
		checkOpen(f, before, after, effects),
		checkView(f, before, after, effects),
		checkNodes(f, before, after, e),
	)
}

// checkRun: I2, and the parts of I3 that concern the run.
func checkRun(f *Flow, before, after State) error {
	switch {
	case before.Status.Ended():
		return errors.New("I2: an ended run changed")
	case after.Rev != before.Rev+1:
		return fmt.Errorf("I3: rev went from %d to %d", before.Rev, after.Rev)
	case after.Status.Ended() != (after.EndedAt != nil):
		return fmt.Errorf("status %s with an end at %v", after.Status, after.EndedAt)
	case after.Status.Ended() != (after.WakeAt == nil) && after.WaitSince == nil:
		return fmt.Errorf("status %s is to be looked at %v", after.Status, after.WakeAt)
	case after.Status == Failed && after.Error == nil, after.Status == Completed && after.Error != nil:
		return fmt.Errorf("status %s with error %v", after.Status, after.Error)
	}
	for name, p := range before.Nodes {
		if p.Phase.Settled() && after.Nodes[name].Phase != p.Phase {
			return fmt.Errorf("I3: node %s was %s and is %s", name, p.Phase, after.Nodes[name].Phase)
		}
	}
	if before.Rev == 0 {
		return nil
	}
	if was, is := Project(f, before).Progress, Project(f, after).Progress; is < was {
		return fmt.Errorf("I3: progress fell from %d to %d", was, is)
	}
	return nil
}

// checkOpen: I4, and that what is newly open is published, once, and nothing that
// is not open.
func checkOpen(f *Flow, before, after State, effects Effects) error {
	if diff := cmp.Diff(Open(f, after), after.Open); diff != "" {
		return fmt.Errorf("I4: open is not Open(flow, state):\n%s", diff)
	}
	for id := range after.Open {
		if _, was := before.Open[id]; !was && !slices.Contains(effects.Publish, id) {
			return fmt.Errorf("%s is newly open and not published", id)
		}
		r, ok := id.Ref()
		if p := after.Nodes[r.Node]; !ok || !p.Phase.working() || p.Attempt != r.Attempt {
			return fmt.Errorf("%s is open while its node is %s in attempt %d", id, p.Phase, p.Attempt)
		}
		if after.Hold != nil && !mapHas(before.Open, id) {
			return fmt.Errorf("%s opened while the run is held", id)
		}
	}
	for i, id := range effects.Publish {
		if !mapHas(after.Open, id) || slices.Contains(effects.Publish[:i], id) {
			return fmt.Errorf("%s is published and not open, or twice", id)
		}
	}
	for _, id := range effects.Cancel {
		if !mapHas(before.Open, id) || !after.Status.Ended() {
			return fmt.Errorf("%s is canceled and was not open, or the run goes on", id)
		}
	}
	return nil
}

func mapHas[V any](m map[StepID]V, id StepID) bool { _, ok := m[id]; return ok }

// checkView: I11 as far as the core decides it, and that the whole is never
// shown before the end.
func checkView(f *Flow, before, after State, effects Effects) error {
	if after.Status != Running && !effects.View {
		return fmt.Errorf("I11: the run is %s and its view is not written", after.Status)
	}
	v := Project(f, after)
	if (v.Progress == 100) != (after.Status == Completed) {
		return fmt.Errorf("I3: progress %d of a run that is %s", v.Progress, after.Status)
	}
	if effects.View && after.Schema >= 2 && (after.ViewAt == nil || !after.ViewAt.Equal(after.UpdatedAt)) {
		return fmt.Errorf("the view is written at %v and not noted: %v", after.UpdatedAt, after.ViewAt)
	}
	if !effects.View && !cmp.Equal(before.ViewAt, after.ViewAt) {
		return errors.New("the view is noted as written and is not")
	}
	return nil
}

func checkNodes(f *Flow, before, after State, e Event) error {
	atWork := 0
	for i := range f.Nodes {
		n := &f.Nodes[i]
		p, was := after.Nodes[n.Name], before.Nodes[n.Name]
		if err := errors.Join(checkStart(n, after, was, p), checkAttempts(n, was, p, e), checkGate(n, was, p, e)); err != nil {
			return fmt.Errorf("node %s, %s → %s: %w", n.Name, was.Phase, p.Phase, err)
		}
		if (p.Phase == Waiting) != (p.Ask != nil) {
			return fmt.Errorf("node %s: %s with question %v", n.Name, p.Phase, p.Ask)
		}
		if p.Phase.working() {
			atWork++
		}
		if p.Phase.working() && was.Phase == Blocked && atWork > f.parallel() {
			return fmt.Errorf("node %s began as number %d of at most %d", n.Name, atWork, f.parallel())
		}
	}
	return nil
}

// checkStart: I5.
func checkStart(n *Node, after State, was, p Progress) error {
	if p.Phase == Blocked || (was.Phase != Blocked && was.Phase != "") {
		return nil
	}
	if slices.Contains(after.Carried, n.Name) {
		return nil
	}
	for _, need := range n.Needs {
		if !after.Nodes[need].Phase.Settled() {
			return fmt.Errorf("I5: it began before %s settled", need)
		}
	}
	if holds := n.holds(&after); holds == (p.Phase == Skipped) {
		return fmt.Errorf("its conditions hold: %t", holds)
	}
	return nil
}

// checkAttempts: I3 and I7 of attempts, I8.
func checkAttempts(n *Node, was, p Progress, e Event) error {
	retries := 0
	if n.Gate != nil {
		retries = n.Gate.Retries
	}
	switch {
	case p.Attempt < was.Attempt, p.Attempt > was.Attempt+1:
		return fmt.Errorf("I3: attempt went from %d to %d", was.Attempt, p.Attempt)
	case p.Attempt > retries:
		return fmt.Errorf("I7: attempt %d of at most %d", p.Attempt, retries)
	case p.Attempt > was.Attempt && was.Phase != Critiquing:
		return errors.New("I8: an attempt began without a critic's end")
	case len(p.Scores) > p.Attempt+1, len(p.Scores) < p.Attempt:
		return fmt.Errorf("I7: %d scores in attempt %d", len(p.Scores), p.Attempt)
	}
	if r, ok := e.(Retryable); ok && len(p.Scores) != len(was.Scores) {
		return fmt.Errorf("I8: a try of %s brought a score", r.Step)
	}
	return nil
}

// checkGate: I7 of critics, I9, and the choice of the best attempt.
func checkGate(n *Node, was, p Progress, e Event) error {
	for attempt, score := range p.Scores {
		if best := p.Scores[p.Best]; score > best || (score == best && attempt < p.Best) {
			return fmt.Errorf("best is %d of %v", p.Best, p.Scores)
		}
	}
	if p.Phase == Passed && was.Phase != Passed {
		if f, ok := e.(Finished); ok && f.Failure != nil {
			return errors.New("I9: a failure passed the node")
		}
	}
	if n.Gate == nil || p.From != "" {
		return nil
	}
	switch {
	case p.Phase == Passed && (len(p.Scores) == 0 || p.Scores[p.Best] < n.Gate.Threshold):
		return fmt.Errorf("I9: it passed with scores %v", p.Scores)
	case p.Phase == Critiquing && p.Attempt == n.Gate.Retries:
		return errors.New("I7: a critic is asked after the last attempt")
	case p.Phase == Critiquing && p.Scores[p.Attempt] >= n.Gate.Threshold:
		return errors.New("I7: a critic is asked about an attempt that passed")
	}
	return nil
}
