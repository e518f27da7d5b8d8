package chart

import (
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/engine"
)

// Sizes of a flow's drawing in pixels.
const (
	margin     = 24
	headHeight = 64 // title of the drawing
	padding    = 12
	nameSize   = 14
	rowSize    = 12
	rowHeight  = 18
	nameHeight = 34
	labelWidth = 50
	textMost   = 240 // of a row; what is longer is cut, and whole in the tooltip
	stack      = 5   // offset of the sheets behind a fan-out
	pillHeight = 26
)

// box is a node as it is drawn.
type box struct {
	node *engine.Node
	rows []row
}

// Flow draws a flow as SVG: a box per node, left to right in the order of work,
// with its agent, conditions, questions, fan-out and gate. A need that another
// path implies is written in the box instead of drawn. Any flow is drawn, a
// faulty one too as far as it makes sense.
func Flow(f *engine.Flow) []byte {
	pairs, reads := reduce(f)
	boxes := make([]box, len(f.Nodes))
	sizes := make([]vertex, len(f.Nodes)+1) // the run's input stands first
	sizes[0] = vertex{w: width(f.InputName(), rowSize) + 2*padding, h: pillHeight}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		boxes[i] = box{n, rows(n, reads[i])}
		sizes[i+1] = boxes[i].size(slices.Contains(f.Outputs, n.Name))
	}
	l := arrange(sizes, pairs)
	d := &drawing{flow: f, boxes: boxes, layout: l}
	d.draw()
	return []byte(d.String())
}

// reduce returns the arrows between boxes, with the run's input as box 0 before
// those that need nothing, and for each node the needs that another path implies.
func reduce(f *engine.Flow) (pairs [][2]int, reads [][]string) {
	index := map[string]int{}
	above := make([][]string, len(f.Nodes))
	for i, n := range f.Nodes {
		index[n.Name] = i
		above[i] = f.Above(n.Name)
	}
	reads = make([][]string, len(f.Nodes))
	for i, n := range f.Nodes {
		drawn := false
		for _, need := range n.Needs {
			from, known := index[need]
			if !known {
				continue
			}
			implied := slices.ContainsFunc(n.Needs, func(other string) bool {
				o, ok := index[other]
				return ok && other != need && slices.Contains(above[o], need) && !slices.Contains(above[from], other)
			})
			if implied {
				reads[i] = append(reads[i], need)
				continue
			}
			pairs, drawn = append(pairs, [2]int{from + 1, i + 1}), true
		}
		if !drawn {
			pairs = append(pairs, [2]int{0, i + 1})
		}
	}
	return pairs, reads
}

// size is what the box takes, with the sheets behind a fan-out.
func (b *box) size(output bool) vertex {
	w := width(b.node.Name, nameSize)*11/10 + 2*padding // bold
	if output {
		w += outputWidth
	}
	if b.node.Pause != nil {
		w += pauseWidth
	}
	for _, r := range b.rows {
		w = max(w, labelWidth+min(width(r.text, rowSize), textMost)+2*padding)
	}
	v := vertex{w: w, h: nameHeight + rowHeight*len(b.rows) + padding/2}
	if b.gate() > 0 {
		v.h += padding / 2
	}
	if b.node.FanOut != nil {
		v.w, v.h = v.w+2*stack, v.h+4*stack // equal above and below, so that edges meet the middle
	}
	return v
}

// gate is the first row of the gate, 0 without one.
func (b *box) gate() int {
	return max(0, slices.IndexFunc(b.rows, func(r row) bool { return r.class == "gate" }))
}

// describe tells the flow in sentences, for who cannot see the drawing.
func describe(f *engine.Flow) string {
	var b strings.Builder
	for i, n := range f.Nodes {
		if i > 0 {
			b.WriteByte(' ')
		}
		after := "starts with the run"
		if len(n.Needs) > 0 {
			after = "needs " + strings.Join(n.Needs, ", ")
		}
		fmt.Fprintf(&b, "%s %s", n.Name, after)
		for _, r := range rows(&n, nil) {
			fmt.Fprintf(&b, "; %s", strings.TrimSpace(r.label+" "+r.text))
		}
		b.WriteByte('.')
	}
	return b.String()
}

// summary of a flow under its name.
func summary(f *engine.Flow) string {
	return fmt.Sprintf("%s, %s, %s of working time", plural(len(f.Nodes), "node"), plural(len(f.Agents()), "agent"), short(f.Budget))
}
