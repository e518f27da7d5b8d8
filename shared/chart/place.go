package chart

import "slices"

// rounds of moving the layers towards their neighbours.
const rounds = 6

// place gives every vertex its height: as near to its neighbours as the order
// and the sizes in its layer allow.
func (l *layout) place() {
	for _, layer := range l.layers {
		l.settle(layer, func(*vertex) []int { return nil })
	}
	for range rounds {
		for _, layer := range l.layers {
			l.settle(layer, func(v *vertex) []int { return v.in })
		}
		for _, layer := range slices.Backward(l.layers) {
			l.settle(layer, func(v *vertex) []int { return v.out })
		}
	}
}

// block is a run of vertices that touch: they move together.
type block struct{ sum, weight, n int }

func (b block) mean() int { return floor(b.sum, b.weight) }

// settle moves the vertices of a layer to the mean of their neighbours, keeping
// order and distances, with the least squared displacement: isotonic regression
// by pooling those that would overlap. Whole numbers keep it the same on every
// machine.
func (l *layout) settle(layer []int, neighbours func(*vertex) []int) {
	offset := make([]int, len(layer)) // distance from the first when all touch
	var blocks []block
	for i, v := range layer {
		if i > 0 {
			offset[i] = offset[i-1] + l.apart(layer[i-1], v)
		}
		weight := 1
		if l.all[v].joint {
			weight = 4 // long edges run straight
		}
		b := block{sum: (l.wish(v, neighbours) - offset[i]) * weight, weight: weight, n: 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].mean() >= b.mean() {
			last := blocks[len(blocks)-1]
			b = block{last.sum + b.sum, last.weight + b.weight, last.n + b.n}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	i := 0
	for _, b := range blocks {
		for range b.n {
			l.all[layer[i]].y = b.mean() + offset[i]
			i++
		}
	}
}

// wish is where a vertex would like to be.
func (l *layout) wish(v int, neighbours func(*vertex) []int) int {
	near := neighbours(&l.all[v])
	if len(near) == 0 {
		return l.all[v].y
	}
	sum := 0
	for _, n := range near {
		sum += l.all[n].y
	}
	return floor(sum, len(near))
}

// apart is the least distance of the centres of two vertices of a layer.
func (l *layout) apart(above, below int) int {
	a, b := l.all[above], l.all[below]
	gap := rowGap
	if a.joint || b.joint {
		gap = jointGap
	}
	return (a.h+1)/2 + gap + (b.h+1)/2
}

// floor divides, rounding down.
func floor(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}
