package chart

import (
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/engine"
)

const (
	titleSize = 16
	tip       = 8 // length of an arrow's head

	outputMark  = "output"
	outputWidth = 60 // of the mark and what parts it from others
	pauseWidth  = 24
)

// style of the drawings. Colours are named for what they are for; both schemes
// keep 4.5:1 between text and ground.
const style = `
.ground{fill:#ffffff}.box{fill:#f7f9fc;stroke:#8a97a8;stroke-width:1.25}.sheet{fill:#e9eef5;stroke:#8a97a8}
.rule{stroke:#c6cfda}.edge{fill:none;stroke:#66758a;stroke-width:1.5}.maybe{stroke-dasharray:5 4}.tip{fill:#66758a}
.pill{fill:#e9eef5;stroke:#8a97a8}.out{fill:#1f6f4a}
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;font-size:12px;fill:#1d2733}
.title{font-size:16px;font-weight:600}.name{font-size:14px;font-weight:600}.quiet,.work,.gate{fill:#56637a}
.when{fill:#8a4b08}.ask{fill:#7a2e8e}.each{fill:#0b5cad}
@media (prefers-color-scheme:dark){
.ground{fill:#12171e}.box{fill:#1b222c;stroke:#66758a}.sheet{fill:#252e3a;stroke:#66758a}
.rule{stroke:#3a4655}.edge{stroke:#93a1b5}.tip{fill:#93a1b5}.pill{fill:#252e3a;stroke:#66758a}.out{fill:#5fc796}
text{fill:#e7edf5}.quiet,.work,.gate{fill:#a3b0c2}.when{fill:#f0b15e}.ask{fill:#dc9bee}.each{fill:#7db8f5}}
`

// drawing writes a flow that has been laid out.
type drawing struct {
	strings.Builder

	flow   *engine.Flow
	boxes  []box
	layout *layout
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.Builder, format, args...) }

func (d *drawing) draw() {
	w, h := d.extent()
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="title desc">`+"\n", w, h, w, h)
	d.add("<title id=\"title\">Flow %s: %s</title>\n<desc id=\"desc\">%s</desc>\n", escape(d.flow.ID), escape(summary(d.flow)), escape(describe(d.flow)))
	d.add("<style>%s</style>\n<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", style, w, h)
	d.add(`<text class="title" x="%d" y="%d">%s</text><text class="quiet" x="%d" y="%d">%s</text>`+"\n",
		margin, margin+14, escape(d.flow.ID), margin, margin+32, escape(summary(d.flow)))
	for _, e := range d.layout.edges {
		d.edge(e)
	}
	d.input()
	for i := range d.boxes {
		d.box(i)
	}
	d.add("</svg>\n")
}

// extent is the size of the whole drawing.
func (d *drawing) extent() (w, h int) {
	w = max(width(summary(d.flow), rowSize), width(d.flow.ID, titleSize)*11/10) // the title is bold
	for i := range d.boxes {
		v := d.layout.all[i+1]
		w, h = max(w, v.x+d.layout.widths[v.layer]), max(h, v.y+(v.h+1)/2)
	}
	h = max(h, d.layout.all[0].y+pillHeight/2)
	for layer := range d.layout.bands[1:] {
		if d.layout.bands[layer] != d.layout.bands[layer+1] {
			for _, t := range d.layout.turns(layer) {
				w = max(w, t.right)
			}
		}
	}
	return w + 2*margin, h + headHeight + 2*margin
}

// at turns a place of the layout into one of the drawing.
func at(x, y int) (int, int) { return x + margin, y + margin + headHeight }

// input draws what the run begins with.
func (d *drawing) input() {
	v := d.layout.all[0]
	x, y := at(v.x, v.y)
	d.add(`<g><title>the input of the run</title><rect class="pill" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`,
		x, y-pillHeight/2, v.w, pillHeight, pillHeight/2)
	d.add(`<text x="%d" y="%d">%s</text></g>`+"\n", x+padding, y+4, escape(d.flow.InputName()))
}

func (d *drawing) box(i int) {
	b, v := &d.boxes[i], d.layout.all[i+1]
	w, h := d.layout.widths[v.layer], v.h
	x, y := at(v.x, v.y)
	y -= h / 2
	d.add(`<g><title>%s</title>`, escape(b.tooltip()))
	if b.node.FanOut != nil {
		w, h, y = w-2*stack, h-4*stack, y+2*stack
		d.add(`<rect class="sheet" x="%d" y="%d" width="%d" height="%d" rx="8"/>`, x+2*stack, y-2*stack, w, h)
		d.add(`<rect class="sheet" x="%d" y="%d" width="%d" height="%d" rx="8"/>`, x+stack, y-stack, w, h)
	}
	d.add(`<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="8"/>`, x, y, w, h)
	d.add(`<text class="name" x="%d" y="%d">%s</text>`, x+padding, y+22, escape(b.node.Name))
	d.marks(b, x+w-padding, y+17)
	gate := b.gate()
	line := y + nameHeight
	for j, r := range b.rows {
		if j == gate && gate > 0 {
			d.add(`<line class="rule" x1="%d" y1="%d" x2="%d" y2="%d"/>`, x+padding, line+3, x+w-padding, line+3)
			line += padding / 2
		}
		line += rowHeight
		d.add(`<text class="%s" x="%d" y="%d">%s</text>`, r.class, x+padding, line-5, escape(r.label))
		d.add(`<text x="%d" y="%d">%s</text>`, x+padding+labelWidth, line-5, escape(clip(r.text, rowSize, w-labelWidth-2*padding)))
	}
	d.add("</g>\n")
}

// marks stand at the right of a box's name: a word where the output is what the
// run is for, two bars where a person is waited for.
func (d *drawing) marks(b *box, right, y int) {
	if slices.Contains(d.flow.Outputs, b.node.Name) {
		d.add(`<text class="out" x="%d" y="%d" text-anchor="end">%s</text>`, right, y+5, outputMark)
		right -= outputWidth
	}
	if b.node.Pause != nil {
		d.add(`<rect class="ask" x="%d" y="%d" width="4" height="12" rx="1"/><rect class="ask" x="%d" y="%d" width="4" height="12" rx="1"/>`, right-11, y-6, right-4, y-6)
	}
}

// edge draws an arrow over its joints: level through columns, bent between them.
func (d *drawing) edge(e edge) {
	from := d.layout.all[e.from]
	w := from.w // the input stands alone and is no wider than its text
	if e.from > 0 {
		w = d.layout.widths[from.layer]
	}
	x, y := at(from.x+w, from.y)
	class := "edge"
	if len(d.boxes[e.to-1].node.When) > 0 {
		class = "edge maybe"
	}
	d.add(`<path class="%s" d="M%d %d`, class, x, y)
	last := e.from
	for _, j := range e.via {
		d.piece(x, y, last, j, 0)
		x, y = at(d.layout.all[j].x+d.layout.widths[d.layout.all[j].layer], d.layout.all[j].y)
		d.add("H%d", x)
		last = j
	}
	d.piece(x, y, last, e.to, tip)
	tx, ty := at(d.layout.all[e.to].x, d.layout.all[e.to].y)
	d.add(`"/><path class="tip" d="M%d %dl-%d -4v8z"/>`+"\n", tx-1, ty, tip)
}

// piece draws an edge on from x, y to the next column, short of it by a gap; round
// the end of the band when the next column is in another.
func (d *drawing) piece(x, y, from, to, gap int) {
	v := d.layout.all[to]
	tx, ty := at(v.x, v.y)
	tx -= gap
	layer := d.layout.all[from].layer
	if d.layout.bands[layer] == d.layout.bands[v.layer] {
		d.bend(x, y, tx, ty)
		return
	}
	const r = 8 // of the corners
	t := d.layout.turns(layer)[[2]int{from, to}]
	right, middle := at(t.right, t.middle)
	left, _ := at(t.left, 0)
	d.add("H%dq%d 0 %d %d", right-r, r, r, r)
	d.add("V%dq0 %d -%d %d", middle-r, r, r, r)
	d.add("H%dq-%d 0 -%d %d", left+r, r, r, r)
	d.add("V%dq0 %d %d %dH%d", ty-r, r, r, r, tx)
}

// bend draws the piece between two columns.
func (d *drawing) bend(x, y, tx, ty int) {
	if y == ty {
		d.add("H%d", tx)
		return
	}
	middle := (x + tx) / 2
	d.add("C%d %d %d %d %d %d", middle, y, middle, ty, tx, ty)
}

// tooltip is a node in full.
func (b *box) tooltip() string {
	parts := []string{b.node.Name}
	for _, r := range b.rows {
		parts = append(parts, strings.TrimSpace(r.label+" "+r.text))
	}
	return strings.Join(parts, "; ")
}
