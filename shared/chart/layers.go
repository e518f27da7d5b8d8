package chart

import (
	"cmp"
	"slices"
)

// vertex of a layered drawing: a box, or a joint where a long edge passes through
// a column.
type vertex struct {
	w, h  int // pixels
	joint bool
	layer int
	x, y  int // left edge of the column, centre
	in    []int
	out   []int
}

// edge leads from a box to a box of a later layer, over a joint in each between.
type edge struct {
	from, to int
	via      []int
}

// layout is a graph cut into layers, left to right.
type layout struct {
	all    []vertex
	edges  []edge
	layers [][]int // vertices from top to bottom
	widths []int   // of the columns

	bands   []int // by layer: how often the drawing has gone on below
	middles []int // by layer before a turn: height of the first lane between the bands
}

// Distances in pixels.
const (
	columnGap = 48
	rowGap    = 24
	jointGap  = 14
)

// arrange lays boxes out: each in the layer after the last of those before it,
// ordered so that few edges cross and placed near its neighbours. Pairs that
// close a cycle are left out.
func arrange(boxes []vertex, pairs [][2]int) *layout {
	l := &layout{all: slices.Clone(boxes)}
	pairs = acyclic(len(boxes), pairs)
	l.rank(pairs)
	l.join(pairs)
	l.order()
	l.place()
	l.wrap()
	return l
}

// acyclic drops the pairs that lead back to a box they came from.
func acyclic(n int, pairs [][2]int) [][2]int {
	next := make([][]int, n)
	for _, p := range pairs {
		next[p[0]] = append(next[p[0]], p[1])
	}
	state := make([]int, n) // 1 on the way, 2 done
	var kept [][2]int
	var visit func(v int)
	visit = func(v int) {
		state[v] = 1
		for _, w := range next[v] {
			if state[w] != 1 {
				kept = append(kept, [2]int{v, w})
			}
			if state[w] == 0 {
				visit(w)
			}
		}
		state[v] = 2
	}
	for v := range n {
		if state[v] == 0 {
			visit(v)
		}
	}
	slices.SortFunc(kept, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	return slices.Compact(kept)
}

// rank puts every box into the layer that its longest path from the left gives.
func (l *layout) rank(pairs [][2]int) {
	for range l.all { // a path has at most as many edges as there are boxes
		moved := false
		for _, p := range pairs {
			if least := l.all[p[0]].layer + 1; l.all[p[1]].layer < least {
				l.all[p[1]].layer, moved = least, true
			}
		}
		if !moved {
			break
		}
	}
}

// join cuts every edge into pieces from one layer to the next.
func (l *layout) join(pairs [][2]int) {
	for _, p := range pairs {
		e := edge{from: p[0], to: p[1]}
		last := e.from
		for layer := l.all[e.from].layer + 1; layer < l.all[e.to].layer; layer++ {
			l.all = append(l.all, vertex{joint: true, layer: layer})
			e.via = append(e.via, len(l.all)-1)
			l.link(last, len(l.all)-1)
			last = len(l.all) - 1
		}
		l.link(last, e.to)
		l.edges = append(l.edges, e)
	}
	for i, v := range l.all {
		for len(l.layers) <= v.layer {
			l.layers, l.widths = append(l.layers, nil), append(l.widths, 0)
		}
		l.layers[v.layer] = append(l.layers[v.layer], i)
		l.widths[v.layer] = max(l.widths[v.layer], v.w)
	}
}

func (l *layout) link(from, to int) {
	l.all[from].out = append(l.all[from].out, to)
	l.all[to].in = append(l.all[to].in, from)
}

// order sorts the layers by the mean place of their neighbours, to and fro, and
// keeps the order with the fewest crossings.
func (l *layout) order() {
	best, fewest := l.copyLayers(), l.crossings()
	for sweep := 0; sweep < 16 && fewest > 0; sweep++ {
		for step := range l.layers {
			layer, neighbours := step, func(v *vertex) []int { return v.in }
			if sweep%2 == 1 {
				layer, neighbours = len(l.layers)-1-step, func(v *vertex) []int { return v.out }
			}
			l.sortLayer(layer, neighbours)
		}
		if n := l.crossings(); n < fewest {
			best, fewest = l.copyLayers(), n
		}
	}
	l.layers = best
}

func (l *layout) copyLayers() [][]int {
	c := make([][]int, len(l.layers))
	for i := range l.layers {
		c[i] = slices.Clone(l.layers[i])
	}
	return c
}

// positions of the vertices within their layers.
func (l *layout) positions() []int {
	at := make([]int, len(l.all))
	for _, layer := range l.layers {
		for i, v := range layer {
			at[v] = i
		}
	}
	return at
}

func (l *layout) sortLayer(layer int, neighbours func(*vertex) []int) {
	at := l.positions()
	key := make([]int, len(l.all))
	for _, v := range l.layers[layer] {
		key[v] = at[v] * 1000
		if near := neighbours(&l.all[v]); len(near) > 0 {
			sum := 0
			for _, n := range near {
				sum += at[n] * 1000
			}
			key[v] = sum / len(near)
		}
	}
	slices.SortStableFunc(l.layers[layer], func(a, b int) int { return cmp.Compare(key[a], key[b]) })
}

// crossings counts the pairs of pieces that cross, by inversions.
func (l *layout) crossings() int {
	at := l.positions()
	total := 0
	for i, layer := range l.layers[:len(l.layers)-1] {
		tree := make([]int, len(l.layers[i+1])+1) // Fenwick tree over the right side
		placed := 0
		for _, v := range layer {
			right := make([]int, 0, len(l.all[v].out))
			for _, w := range l.all[v].out {
				right = append(right, at[w]+1)
			}
			for _, r := range right {
				above := 0
				for j := r; j > 0; j -= j & -j {
					above += tree[j]
				}
				total += placed - above
			}
			for _, r := range right {
				for j := r; j < len(tree); j += j & -j {
					tree[j]++
				}
			}
			placed += len(right)
		}
	}
	return total
}
