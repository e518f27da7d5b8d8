package report

import (
	"math"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// bars draws amounts as horizontal bars with their values and their share of
// the sum.
func (p *pages) bars(parts []amount) {
	most, sum := money.Cents(0), money.Cents(0)
	for _, a := range parts {
		most = max(most, a.cost)
		sum += a.cost
	}
	if most <= 0 {
		p.paragraph(title(missing) + ".")
		return
	}
	const h, names, values = 5.0, 62.0, 36.0
	p.need(min(h*float64(len(parts)), p.bottom()-margin))
	room := p.width() - names - values
	for _, a := range parts {
		p.need(h)
		p.font(tableText, false, ink)
		p.put(margin+names-3, p.y+h*0.66, p.fit(a.name, names-4), right)
		w := max(0.3, room*ratio(a.cost, most))
		p.box(margin+names, p.y+1, w, h-2, navy)
		p.put(margin+names+w+2, p.y+h*0.66, a.cost.Whole()+"  ("+percent(100*ratio(a.cost, sum))+")", left)
		p.y += h
	}
	p.y += 3
}

func ratio(part, all money.Cents) float64 { return float64(part) / float64(all) }

// mark is a line across a chart.
type mark struct {
	name string
	at   money.Cents
}

// histogram draws the bins of the simulated total, with lines at its
// percentiles.
func (p *pages) histogram(bins []estimate.Bin, marks []mark) {
	if len(bins) == 0 || bins[len(bins)-1].High <= bins[0].Low {
		p.paragraph(title(missing) + ".")
		return
	}
	const height, top, axis = 52.0, 14.0, 10.0
	p.need(height + top + axis + 6)
	low, high, most := bins[0].Low, bins[len(bins)-1].High, 0
	for _, b := range bins {
		most = max(most, b.Count)
	}
	x := func(c money.Cents) float64 { return margin + p.width()*ratio(c-low, high-low) }
	base := p.y + top + height
	p.font(7, false, quiet)
	for _, b := range bins {
		h := height * float64(b.Count) / float64(max(1, most))
		p.box(x(b.Low)+0.3, base-h, x(b.High)-x(b.Low)-0.6, h, steel)
	}
	p.line(margin, base, margin+p.width(), base, ink, 0.3)
	for i := range 6 {
		c := low + (high-low)*money.Cents(i)/5
		side := []float64{left, centre, centre, centre, centre, right}[i]
		p.font(7.5, false, quiet)
		p.line(x(c), base, x(c), base+1.2, ink, 0.2)
		p.put(x(c), base+4.6, c.Whole(), side)
	}
	p.pdf.SetDashPattern([]float64{1.2, 0.8}, 0)
	for i, m := range marks {
		p.line(x(m.at), p.y+float64(2-i%3)*4+1.5, x(m.at), base, accent, 0.4)
	}
	p.pdf.SetDashPattern(nil, 0)
	for i, m := range marks {
		p.font(7.5, true, accent)
		text, side := m.name+" "+m.at.Whole(), left
		at := x(m.at) + 1
		if at+p.pdf.GetStringWidth(text) > margin+p.width() {
			at, side = x(m.at)-1, right
		}
		p.put(at, p.y+float64(2-i%3)*4+3.5, text, side)
	}
	p.y = base + axis
}

// tornado draws what the total becomes when one input is low or high, the
// widest first.
func (p *pages) tornado(swings []estimate.Swing, mid money.Cents) {
	swings = swings[:min(len(swings), 10)]
	low, high := mid, mid
	for _, s := range swings {
		low, high = min(low, s.Low, s.High), max(high, s.Low, s.High)
	}
	if high <= low {
		p.paragraph(title(missing) + ".")
		return
	}
	const h, names, values = 6.4, 64.0, 17.0
	p.need(h*float64(len(swings)) + 12)
	room := p.width() - names - 2*values
	x := func(c money.Cents) float64 { return margin + names + values + room*ratio(c-low, high-low) }
	start := p.y
	for _, s := range swings {
		from, to := min(s.Low, s.High), max(s.Low, s.High)
		p.font(tableText, false, ink)
		p.put(margin+names-3, p.y+h*0.66, p.fit(s.Name, names-4), right)
		p.box(x(from), p.y+1, x(min(mid, to))-x(from), h-2, steel)
		p.box(x(max(mid, from)), p.y+1, x(to)-x(max(mid, from)), h-2, navy)
		p.font(7, false, quiet)
		p.put(x(from)-1, p.y+h*0.65, from.Whole(), right)
		p.put(x(to)+1, p.y+h*0.65, to.Whole(), left)
		p.y += h
	}
	p.line(x(mid), start, x(mid), p.y+1, ink, 0.3)
	p.font(7.5, true, ink)
	p.put(x(mid), p.y+4.5, "mean "+mid.Whole(), centre)
	p.y += 9
}

// dayOf is the number of a day, for the axis of time.
func dayOf(d estimate.Date) float64 { return math.Floor(float64(d.Unix()) / 86400) }
