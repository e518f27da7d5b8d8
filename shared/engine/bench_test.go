package engine

import (
	"testing"
	"time"
)

// sevenNodes is as wide and deep as the flow of the estimate.
func sevenNodes() Flow {
	f := Flow{ID: "seven", Engine: 1, Budget: time.Hour}
	needs := map[string][]string{"b": {"a"}, "c": {"a"}, "d": {"b", "c"}, "e": {"d"}, "f": {"d"}, "g": {"e", "f"}}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		f.Nodes = append(f.Nodes, Node{
			Name: name, Agent: name, Needs: needs[name], Weight: 10, Timeout: time.Minute,
			Retry: Retry{Tries: 3, Base: 30 * time.Second, Cap: 15 * time.Minute},
			Gate:  &Gate{Scorer: name + "_scorer", Critic: name + "_critic", Threshold: 80, Retries: 2, Exhausted: Fail},
		})
	}
	return f
}

// BenchmarkNext measures single events on a flow of seven nodes, half way through
// with two nodes at work. T8: at most 5 µs and 20 allocations.
func BenchmarkNext(b *testing.B) {
	f, s := sevenNodes(), State{}
	for _, e := range []Event{
		Started{EstimateID: "e", N: 1},
		Finished{Step: "a.0.p"},
		Finished{Step: "a.0.s", Score: 90},
	} {
		s, _, _ = Next(&f, s, e, epoch)
	}
	scoring, _, _ := Next(&f, s, Finished{Step: "b.0.p"}, epoch)
	for _, bb := range []struct {
		name  string
		state State
		event Event
	}{
		{"primary", s, Finished{Step: "b.0.p"}},
		{"pass", scoring, Finished{Step: "b.0.s", Score: 90}},
		{"fall short", scoring, Finished{Step: "b.0.s", Score: 50}},
		{"try again", s, Retryable{Step: "b.0.p"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, v := Next(&f, bb.state, bb.event, epoch); v != Applied {
					b.Fatal(v)
				}
			}
		})
	}
}

// TestNextAllocates holds T8's bound on allocations, which needs no quiet machine.
func TestNextAllocates(t *testing.T) {
	f := sevenNodes()
	s, _, _ := Next(&f, State{}, Started{EstimateID: "e", N: 1}, epoch)
	s, _, _ = Next(&f, s, Finished{Step: "a.0.p"}, epoch)
	passes := Finished{Step: "a.0.s", Score: 90} // opens two steps and brings an output
	if got := testing.AllocsPerRun(100, func() { Next(&f, s, passes, epoch) }); got > 20 {
		t.Errorf("Next allocates %.0f times, want 20 at most", got)
	}
}
