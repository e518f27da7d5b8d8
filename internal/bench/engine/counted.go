package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// formula is what a fault-free run costs: C calls of which K critics, P nodes.
func formula(calls, critics, nodes int) counts {
	return counts{
		Writes: 2 + 3*calls + (calls - critics) + nodes, // start; claim, result, run; view; output
		Reads:  calls, Publishes: calls, Commits: 1 + 2*calls,
	}
}

func (c counts) times(n int) counts {
	return counts{n * c.Writes, n * c.Reads, n * c.Commits, n * c.Publishes}
}

func (c counts) String() string { return fmt.Sprintf("%d/%d/%d", c.Writes, c.Reads, c.Publishes) }

// counted holds writes, reads and publishes of runs to the formula: T4. The
// agents take a second, as the formula has it: views that come sooner after
// another are left out. The runs begin in the engine's process; an instance that
// meets a run later reads its input, once.
func counted(ctx context.Context, r *rig, n size, t *table) error {
	r.agents.pause.Store(int64(1050 * time.Millisecond))
	defer r.agents.pause.Store(0)
	before, err := r.counts()
	if err != nil {
		return err
	}
	c, err := r.crowd(ctx, r.chainRun, n.paused, n.paused)
	if err != nil {
		return err
	}
	after, err := r.counts()
	if err != nil {
		return err
	}
	got, want := after.minus(before), formula(chainSteps, 1, 6).times(n.paused)
	one := formula(chainSteps, 1, 6)
	shown := fmt.Sprintf("%.4g/%.4g/%.4g", float64(got.Writes)/float64(n.paused), float64(got.Reads)/float64(n.paused), float64(got.Publishes)/float64(n.paused))
	t.add(row{"T4", fmt.Sprintf("writes/reads/publishes of a run, %d runs of %d calls", n.paused, chainSteps), "", shown, "", one.String() + " exactly", ""}, got == want)
	share := percent(c.Conflicts, c.Recorded)
	t.add(row{"T4", "refused commits in chains", "", fmt.Sprintf("%.2f %%", share), "", "< 1 %", ""}, share < 1)
	if got != want {
		return fmt.Errorf("%d runs cost %s and %d commits, wanted %s and %d", n.paused, got, got.Commits, want, want.Commits)
	}
	return r.right(ctx, c.ids, 1+chainSteps)
}

func percent(part, of int) float64 { return 100 * float64(part) / float64(max(of, 1)) }

// conflicting measures how often branches of one run meet: T4, with agents that
// take no time, so that they meet as often as can be, and with agents that take
// some.
func conflicting(ctx context.Context, r *rig, n size, t *table) error {
	const calls, width = 12, 4
	defer r.agents.spread.Store(0)
	var ids []string
	for _, spread := range []time.Duration{0, 400 * time.Millisecond} {
		r.agents.spread.Store(int64(spread))
		c, err := r.crowd(ctx, r.flowRun(widthFlow, smallInput), n.runs, inFlight/width) // as many messages in flight as elsewhere
		if err != nil {
			return err
		}
		ids = append(ids, c.ids...)
		share := percent(c.Conflicts, c.Recorded)
		t.add(row{
			"T4", fmt.Sprintf("refused commits of steps, %d side by side, %d runs, agents take up to %v", width, inFlight/width, spread),
			"", fmt.Sprintf("%.1f %%", share), "", "< 20 %", "",
		}, share < 20)
		if spread == 0 {
			t.note(row{"", fmt.Sprintf("steps/s, %d side by side", width), "", fmt.Sprintf("%.0f", float64(n.runs*calls)/c.elapsed.Seconds()), "", "", ""})
		}
	}
	r.agents.spread.Store(0)
	seven, err := r.crowd(ctx, r.flowRun(sevenFlow, smallInput), inFlight, inFlight)
	return errors.Join(err, r.right(ctx, ids, 1+calls), r.right(ctx, seven.ids, 1+14))
}
