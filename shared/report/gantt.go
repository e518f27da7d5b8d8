package report

import (
	"math"
	"time"

	"truecost.dev/shared/estimate"
)

// gantt draws the tasks by the days of the calendar: the critical ones dark,
// the others light with their float as a line, milestones as diamonds.
type gantt struct {
	*pages
	first, last float64 // days
	h           float64 // of a task
}

// Sizes of the drawing.
const (
	mostHeight  = 5.2 // of a task; less where that saves a page
	leastHeight = 3.4
	legendRoom  = 8.0
	taskNames   = 66.0
	scaleRoom   = 9.0
)

func (p *pages) gantt(t *estimate.Timeline) {
	if len(t.Tasks) == 0 {
		p.paragraph(title(missing) + ".")
		return
	}
	g := &gantt{pages: p, first: math.Inf(1), last: math.Inf(-1)}
	for i := range t.Tasks {
		if k := &t.Tasks[i]; dated(k) {
			g.first = min(g.first, dayOf(k.Start))
			g.last = max(g.last, dayOf(k.End)+1)
		}
	}
	if g.last < g.first {
		p.paragraph(title(missing) + ".")
		return
	}
	p.need(scaleRoom + 3*mostHeight)
	g.h = mostHeight
	if fits := (p.bottom() - p.y - scaleRoom - legendRoom) / float64(len(t.Tasks)); fits >= leastHeight {
		g.h = min(g.h, fits)
	}
	g.scale()
	for i := range t.Tasks {
		if p.need(g.h) {
			g.scale()
		}
		g.task(&t.Tasks[i], i%2 == 1)
	}
	g.legend()
}

// dated reports whether a task has a place in time.
func dated(t *estimate.Task) bool { return !t.Start.IsZero() && !t.End.IsZero() }

func (g *gantt) x(day float64) float64 {
	return margin + taskNames + (g.width()-taskNames)*(day-g.first)/max(1, g.last-g.first)
}

// scale writes the dates of Mondays, as many as have room, over the bars.
func (g *gantt) scale() {
	const label = 15.0
	week := (g.width() - taskNames) * 7 / max(1, g.last-g.first)
	every := 1
	for float64(every)*week < label {
		every++
	}
	g.font(7.5, false, quiet)
	monday := g.first + float64((8-int(time.Unix(int64(g.first)*86400, 0).UTC().Weekday()))%7)
	drawn := false
	for ; monday < g.last; monday += float64(7 * every) {
		if g.x(monday)+label < margin+g.width() {
			g.put(g.x(monday), g.y+4, time.Unix(int64(monday)*86400, 0).UTC().Format("Jan 2"), left)
			drawn = true
		}
		g.line(g.x(monday), g.y+5.5, g.x(monday), g.y+scaleRoom-1, rule, 0.2)
	}
	if !drawn {
		g.put(g.x(g.first), g.y+4, time.Unix(int64(g.first)*86400, 0).UTC().Format("Jan 2"), left)
	}
	g.y += scaleRoom - 1
	g.line(margin, g.y, margin+g.width(), g.y, rule, 0.2)
}

func (g *gantt) task(t *estimate.Task, shade bool) {
	if shade {
		g.box(margin, g.y, g.width(), g.h, band)
	}
	g.font(7, t.Critical, ink)
	g.put(margin+1, g.y+g.h/2+0.9, g.fit(t.Name, taskNames-3), left)
	from, to := g.x(dayOf(t.Start)), g.x(dayOf(t.End)+1)
	mid := g.y + g.h/2
	switch {
	case !dated(t):
	case t.Milestone:
		g.pdf.SetFillColor(accent[0], accent[1], accent[2])
		g.diamond(from, mid)
	case t.Critical:
		g.box(from, g.y+g.h*0.18, max(0.6, to-from), g.h*0.64, navy)
	default:
		g.box(from, g.y+g.h*0.18, max(0.6, to-from), g.h*0.64, steel)
	}
	g.y += g.h
}

func (g *gantt) legend() {
	g.need(legendRoom)
	y := g.y + 4
	g.font(7.5, false, quiet)
	x := margin + taskNames
	g.box(x, y-2, 6, 2.6, navy)
	g.put(x+8, y, "critical path", left)
	g.box(x+32, y-2, 6, 2.6, steel)
	g.put(x+40, y, "with float", left)
	g.pdf.SetFillColor(accent[0], accent[1], accent[2])
	g.diamond(x+64, y-0.8)
	g.put(x+67.5, y, "milestone", left)
	g.y = y + 4
}
