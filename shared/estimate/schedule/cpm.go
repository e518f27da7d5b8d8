package schedule

import (
	"math"
	"slices"

	"truecost.dev/shared/fault"
)

// Node is an activity of a network. Durations and lags are working days.
type Node struct {
	ID       string
	Duration float64
	Links    []Link
}

// Link lets a node wait for another: FS for its finish, SS for its start, and
// then for Lag days. An empty relation is FS.
type Link struct {
	On       string
	Relation string
	Lag      float64
}

// The relations.
const (
	FinishToStart = "FS"
	StartToStart  = "SS"
)

// Times of a node, in working days from the start of the job.
type Times struct{ ES, EF, LS, LF, Float float64 }

// CPM returns the early and late times of the nodes, in their order, and the
// duration of the longest path. A link to a node that does not exist, a node
// twice, an unknown relation or a cycle is fault.Invalid.
func CPM(nodes []Node) ([]Times, float64, error) {
	net, err := newNetwork(nodes)
	if err != nil {
		return nil, 0, err
	}
	durations := make([]float64, len(nodes))
	for i := range nodes {
		durations[i] = nodes[i].Duration
	}
	times := make([]Times, len(nodes))
	return times, net.pass(durations, times), nil
}

// network is a checked network: links by index, nodes in an order in which
// every predecessor comes first.
type network struct {
	links [][]edge // to predecessors
	order []int
}

type edge struct {
	on    int
	start bool // SS
	lag   float64
}

func newNetwork(nodes []Node) (*network, error) {
	at := make(map[string]int, len(nodes))
	for i := range nodes {
		if _, twice := at[nodes[i].ID]; twice {
			return nil, fault.New(fault.Invalid, "activity %q stands twice in the network", nodes[i].ID)
		}
		at[nodes[i].ID] = i
	}
	net := &network{links: make([][]edge, len(nodes))}
	waits := make([]int, len(nodes))
	next := make([][]int, len(nodes))
	for i := range nodes {
		for _, l := range nodes[i].Links {
			on, ok := at[l.On]
			if !ok {
				return nil, fault.New(fault.Invalid, "activity %q waits for %q, which is not in the network", nodes[i].ID, l.On)
			}
			if l.Relation != "" && l.Relation != FinishToStart && l.Relation != StartToStart {
				return nil, fault.New(fault.Invalid, "activity %q: relation %q is neither FS nor SS", nodes[i].ID, l.Relation)
			}
			net.links[i] = append(net.links[i], edge{on, l.Relation == StartToStart, l.Lag})
			next[on] = append(next[on], i)
			waits[i]++
		}
	}
	for i := range nodes {
		if waits[i] == 0 {
			net.order = append(net.order, i)
		}
	}
	for k := 0; k < len(net.order); k++ {
		for _, i := range next[net.order[k]] {
			if waits[i]--; waits[i] == 0 {
				net.order = append(net.order, i)
			}
		}
	}
	if len(net.order) < len(nodes) {
		stuck := slices.IndexFunc(waits, func(w int) bool { return w > 0 })
		return nil, fault.New(fault.Invalid, "the network has a cycle through %q", nodes[stuck].ID)
	}
	return net, nil
}

// earliest returns when node i may start, given the times of its predecessors.
func (n *network) earliest(i int, times []Times) float64 {
	es := 0.0
	for _, l := range n.links[i] {
		es = math.Max(es, l.since(times))
	}
	return es
}

// since returns the time from which the link lets its node start.
func (l edge) since(times []Times) float64 {
	if l.start {
		return times[l.on].ES + l.lag
	}
	return times[l.on].EF + l.lag
}

// pass computes times forward and backward and returns the duration. It
// allocates nothing.
func (n *network) pass(durations []float64, times []Times) float64 {
	end := n.forward(times, func(i int, _ float64) float64 { return durations[i] })
	n.backward(times, end)
	return end
}

// forward computes the early times; duration is asked once for each node, in
// order, with its early start.
func (n *network) forward(times []Times, duration func(i int, es float64) float64) (end float64) {
	for _, i := range n.order {
		es := n.earliest(i, times)
		times[i].ES, times[i].EF = es, es+duration(i, es)
		end = math.Max(end, times[i].EF)
	}
	return end
}

// backward computes the late times and the float from the early ones.
func (n *network) backward(times []Times, end float64) {
	for i := range times {
		times[i].LF = end
	}
	for _, i := range slices.Backward(n.order) {
		t := &times[i]
		t.LS = t.LF - (t.EF - t.ES)
		t.Float = t.LS - t.ES
		for _, l := range n.links[i] {
			latest := t.LS - l.lag
			if l.start {
				latest += times[l.on].EF - times[l.on].ES
			}
			times[l.on].LF = math.Min(times[l.on].LF, latest)
		}
	}
}

// driving calls yield for each activity of one longest path, from the last to
// the first, with the time it adds to the job; these times sum to the duration.
func (n *network) driving(times []Times, yield func(i int, adds float64)) {
	last := 0
	for i := range times {
		if times[i].EF > times[last].EF {
			last = i
		}
	}
	adds := times[last].EF - times[last].ES
	for i, more := last, true; more; {
		yield(i, adds)
		var before int
		if before, more = n.driver(i, times); more {
			adds = times[i].ES - times[before].ES
			i = before
		}
	}
}

// driver returns the predecessor that node i waited for: of several the one
// that ends last. A node that waited for none has no driver.
func (n *network) driver(i int, times []Times) (before int, ok bool) {
	for _, l := range n.links[i] {
		if math.Abs(l.since(times)-times[i].ES) > 1e-9 {
			continue
		}
		if !ok || times[l.on].EF > times[before].EF {
			before, ok = l.on, true
		}
	}
	return before, ok
}

// criticalPath returns the nodes of one longest path in order.
func (n *network) criticalPath(times []Times) []int {
	if len(times) == 0 {
		return nil
	}
	var path []int
	n.driving(times, func(i int, _ float64) { path = append(path, i) })
	slices.Reverse(path)
	return path
}
