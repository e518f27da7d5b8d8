package simulation

import "testing"

// Without faults a run costs what the formula says: I22.
func TestCounts(t *testing.T) {
	t.Parallel()
	p := chain()
	p.Steady, p.Instances = 5e9, 1
	r := live(t, p, 1, None{})
	const calls, critics, passed = 4, 0, 2
	const key, flow, project = 1, 1, passed + 1 // beside the formula: the idempotency key, the flow's first start, the project's view
	want := 2 + 3*calls + (calls - critics) + passed + key + flow + project
	reads, writes := r.Bill.Total()
	if writes != want {
		t.Errorf("%d writes, want %d: %v", writes, want, r.Bill.Writes)
	}
	if want := calls + key; reads != want {
		t.Errorf("%d reads, want %d: %v", reads, want, r.Bill.Reads)
	}
	if r.Published != calls {
		t.Errorf("%d publishes, want %d", r.Published, calls)
	}
	if len(r.Hot) > 0 {
		t.Errorf("too many writes a second: %v", r.Hot)
	}
}
