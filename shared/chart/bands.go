package chart

import (
	"cmp"
	"slices"
)

// bandWidth is how wide a drawing becomes before it goes on below, as text does:
// about a page of documentation at full size.
const bandWidth = 1090

// Distances of the edges that lead from one band to the next.
const (
	gutter    = 18 // beside the columns, before the first lane
	laneRoom  = 72 // that all lanes of one turn share
	laneApart = 7  // at most
)

// turn is an edge's way from the end of a band to the start of the next.
type turn struct{ right, middle, left int }

// wrap breaks the layers into bands, one below the other, and gives the columns
// and bands their places.
func (l *layout) wrap() {
	l.bands, l.middles = make([]int, len(l.layers)), make([]int, len(l.layers))
	x := 0
	for i := range l.layers {
		if i > 0 {
			l.bands[i] = l.bands[i-1]
			if x+l.widths[i] > bandWidth {
				l.bands[i]++
				x = gutter + l.lanes(i-1)*laneSpace(l.lanes(i-1))
			}
		}
		for _, v := range l.layers[i] {
			l.all[v].x = x
		}
		x += l.widths[i] + columnGap
	}
	top := 0
	for first := 0; first < len(l.layers); {
		last := first
		for last+1 < len(l.layers) && l.bands[last+1] == l.bands[first] {
			last++
		}
		bottom := l.stackBand(first, last, top)
		top = bottom + 2*gutter
		if last+1 < len(l.layers) {
			l.middles[last] = bottom + gutter
			top += l.lanes(last) * laneSpace(l.lanes(last))
		}
		first = last + 1
	}
}

// stackBand moves the layers first to last so that the highest of them begins at
// top, and returns where the lowest ends.
func (l *layout) stackBand(first, last, top int) (bottom int) {
	highest := l.all[l.layers[first][0]].y
	for _, layer := range l.layers[first : last+1] {
		for _, v := range layer {
			highest = min(highest, l.all[v].y-l.all[v].h/2)
		}
	}
	for _, layer := range l.layers[first : last+1] {
		for _, v := range layer {
			l.all[v].y += top - highest
			bottom = max(bottom, l.all[v].y+(l.all[v].h+1)/2)
		}
	}
	return bottom
}

// lanes is how many edges lead from a layer to the next.
func (l *layout) lanes(layer int) int {
	n := 0
	for _, v := range l.layers[layer] {
		n += len(l.all[v].out)
	}
	return n
}

func laneSpace(n int) int { return max(1, min(laneApart, laneRoom/max(1, n))) }

// turns gives every edge that leaves a layer for the next band a lane of its
// own. The lowest turns first and goes furthest to the left, so that edges that
// keep their order do not cross.
func (l *layout) turns(layer int) map[[2]int]turn {
	var pieces [][2]int
	for _, v := range l.layers[layer] {
		for _, w := range l.all[v].out {
			pieces = append(pieces, [2]int{v, w})
		}
	}
	slices.SortStableFunc(pieces, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(l.all[b[0]].y, l.all[a[0]].y), cmp.Compare(l.all[b[1]].y, l.all[a[1]].y))
	})
	all := map[[2]int]turn{}
	space := laneSpace(len(pieces))
	for i, p := range pieces {
		all[p] = turn{
			right:  l.all[p[0]].x + l.widths[layer] + gutter + i*space,
			middle: l.middles[layer] + i*space,
			left:   l.all[p[1]].x - gutter - (len(pieces)-1-i)*space,
		}
	}
	return all
}
