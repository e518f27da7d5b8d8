package montecarlo

import "truecost.dev/shared/estimate/stat"

// batch is how many iterations are drawn side by side: line by line rather than
// iteration by iteration, so that what is known of a line stays at hand.
const batch = 50

// lane is one quantity over a batch of iterations.
type lane [batch]float64

// scratch is the memory of one worker; nothing is allocated while drawing.
type scratch struct {
	normals stat.Normals

	market [kinds]lane
	trade  [2][]lane // material and labor scores of the trades
	code   []lane
	group  []lane
	zeros  lane // the score of a trade or a material that is not shared
	ones   lane // a factor that is certain

	drawn    [kinds]lane // factors of the line at hand
	byTrade  []lane      // labor dollars
	x        []lane      // price of each component, less its base
	material lane        // direct dollars of all lines
	labor    lane
	direct   lane
	lines    lane // price of all lines, less their base
	total    lane // price, less its base
}

func (p *program) scratch(seed [32]byte, stream uint64) *scratch {
	s := &scratch{
		normals: stat.NewNormals(seed, stream),
		trade:   [2][]lane{make([]lane, len(p.trades)), make([]lane, len(p.trades))},
		code:    make([]lane, p.codes), group: make([]lane, p.groups),
		byTrade: make([]lane, len(p.trades)), x: make([]lane, len(p.base)),
	}
	for k := range s.ones {
		s.ones[k] = 1
	}
	return s
}

// draw samples n iterations into s.
func (p *program) draw(s *scratch, n int) {
	p.drawShared(s, n)
	s.material, s.labor, s.direct, s.total = lane{}, lane{}, lane{}, lane{}
	for i := range p.lines {
		p.drawLine(s, i, n)
	}
	s.lines = s.total
	for i := range p.events {
		p.drawEvent(s, i, n)
	}
}

// drawShared draws what lines and events have in common.
func (p *program) drawShared(s *scratch, n int) {
	z := &s.drawn
	for k := range z {
		s.normals.Fill(z[k][:n])
	}
	for kind := range s.market {
		a := &p.load.market[kind]
		for k := range n {
			s.market[kind][k] = a[0]*z[0][k] + a[1]*z[1][k] + a[2]*z[2][k]
		}
	}
	for t := range p.trades {
		s.shared(&s.trade[0][t], n, p.load.trade)
		s.shared(&s.trade[1][t], n, p.load.trade)
		s.byTrade[t] = lane{}
	}
	for c := range s.code {
		s.shared(&s.code[c], n, p.load.code)
	}
	for g := range s.group {
		s.shared(&s.group[g], n, 1)
	}
}

func (s *scratch) shared(into *lane, n int, load float64) {
	s.normals.Fill(into[:n])
	for k := range n {
		into[k] *= load
	}
}

// factor draws a factor of a line and returns where it stands.
func (s *scratch) factor(kind, n int, f *factor, trade, code *lane) *lane {
	if f.table == nil {
		return &s.ones
	}
	into, market := &s.drawn[kind], &s.market[kind]
	s.normals.Fill(into[:n])
	for k := range into[:n] {
		into[k] = f.table.At(market[k] + trade[k] + code[k] + f.own*into[k])
	}
	return into
}

func (p *program) drawLine(s *scratch, i, n int) {
	l := &p.lines[i]
	material, labor, code := &s.ones, &s.ones, &s.zeros
	if l.code >= 0 {
		code = &s.code[l.code]
	}
	if l.material != 0 {
		material = s.factor(materialKind, n, &l.factors[materialKind], &s.trade[0][l.trade], code)
	}
	if l.labor != 0 {
		labor = s.factor(laborKind, n, &l.factors[laborKind], &s.trade[1][l.trade], &s.zeros)
	}
	quantity := s.factor(quantityKind, n, &l.factors[quantityKind], &s.zeros, &s.zeros)
	x, byTrade, base := &s.x[i], &s.byTrade[l.trade], p.base[i]
	for k := range x[:n] {
		m, w := l.material*material[k]*quantity[k], l.labor*labor[k]*quantity[k]
		cost := m + w + l.equipment*quantity[k]
		s.material[k] += m
		s.labor[k] += w
		s.direct[k] += cost
		byTrade[k] += w
		x[k] = p.scale * (cost - base)
		s.total[k] += x[k]
	}
}

// drawEvent draws an event: whether it happens, and with what severity.
func (p *program) drawEvent(s *scratch, i, n int) {
	e, x := &p.events[i], &s.x[len(p.lines)+i]
	happens, severity, group := &s.drawn[0], &s.drawn[1], &s.zeros
	s.normals.Fill(happens[:n])
	s.normals.Fill(severity[:n])
	if e.group >= 0 {
		group = &s.group[e.group]
	}
	base := &s.direct
	switch e.base {
	case Material:
		base = &s.material
	case Labor:
		base = &s.labor
	case Direct:
	}
	for k := range x[:n] {
		x[k] = 0
		if e.own*happens[k]+e.shared*group[k] >= e.threshold {
			continue
		}
		cost := 0.0
		if e.impact != nil {
			cost = e.impact.At(severity[k]) * base[k]
		}
		if e.delay != nil {
			// A cheap surprise is a short one: one severity drives both.
			cost += e.delay.At(severity[k]) * p.perDay
		}
		x[k] = p.scale * cost
		s.total[k] += x[k]
	}
}
