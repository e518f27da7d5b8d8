package montecarlo

import (
	"math"
	"math/rand/v2"

	"truecost.dev/shared/estimate/stat"
)

// program is a model made ready to draw: no maps, no interfaces, no decisions
// that could be made once.
type program struct {
	lines  []drawnLine
	events []drawnEvent
	load   loadings
	trades []string // names by index
	codes  int      // materials that more than one line uses
	groups int      // event groups
	fixed  float64
	scale  float64
	perDay float64
	base   []float64 // direct cost of each component with all factors 1; 0 for events
	origin float64   // the base of the total, subtracted before squaring
	watch  []int     // components whose samples are kept
}

// factor is one uncertain factor of a line; a nil table is the constant 1.
type factor struct {
	table *stat.Table
	own   float64
}

type drawnLine struct {
	material, labor, equipment float64
	factors                    [kinds]factor
	trade                      int // index of the trade's factors
	code                       int // index of the material's factor, -1 when no other line shares it
}

type drawnEvent struct {
	threshold float64 // happens when its score lies below
	base      Base
	impact    *stat.Table
	delay     *stat.Table
	group     int // -1 stands alone
	shared    float64
	own       float64
}

func compile(lines []Line, events []Event, m *Model) *program {
	p := &program{
		load: newLoadings(m.Correlation), fixed: m.Fixed, scale: m.Scale, perDay: m.PerDay,
		lines: make([]drawnLine, len(lines)), events: make([]drawnEvent, len(events)),
		base: make([]float64, len(lines)+len(events)),
	}
	tables := map[stat.Dist]*stat.Table{}
	uses, trades, codes, groups := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for i := range lines {
		uses[lines[i].Code]++
	}
	sum := 0.0
	for i := range lines {
		l := &lines[i]
		code := -1
		if uses[l.Code] > 1 && l.Code != "" {
			code = number(codes, l.Code)
		}
		trade := number(trades, l.Trade)
		if trade == len(p.trades) {
			p.trades = append(p.trades, l.Trade)
		}
		p.lines[i] = drawnLine{
			material: l.Material, labor: l.Labor, equipment: l.Equipment, trade: trade, code: code,
			factors: [kinds]factor{
				{tabulate(tables, l.MaterialFactor), p.load.own(materialKind, true, code >= 0)},
				{tabulate(tables, l.LaborFactor), p.load.own(laborKind, true, false)},
				{tabulate(tables, l.QuantityFactor), p.load.own(quantityKind, false, false)},
			},
		}
		p.base[i] = l.cost()
		sum += l.cost()
	}
	for i := range events {
		e := &events[i]
		d := drawnEvent{
			threshold: stat.NormalQuantile(e.Probability), base: e.Base, group: -1, own: 1,
			impact: tabulate(tables, e.Impact), delay: tabulate(tables, e.Delay),
		}
		if e.Group != "" {
			d.group = number(groups, e.Group)
			d.shared = p.load.event
			d.own = math.Sqrt(1 - d.shared*d.shared)
		}
		p.events[i] = d
	}
	p.codes, p.groups = len(codes), len(groups)
	p.origin = p.fixed + p.scale*sum
	return p
}

// number returns the index of a name, the next free one when it is new.
func number(seen map[string]int, name string) int {
	n, ok := seen[name]
	if !ok {
		n = len(seen)
		seen[name] = n
	}
	return n
}

func tabulate(seen map[stat.Dist]*stat.Table, d stat.Dist) *stat.Table {
	if d == nil {
		return nil
	}
	if d.SD() == 0 && d.Mean() == 1 {
		return nil
	}
	t, ok := seen[d]
	if !ok {
		t = stat.Tabulate(d)
		seen[d] = t
	}
	return t
}

// scratch is the memory of one worker; nothing is allocated while drawing.
type scratch struct {
	rng    *rand.Rand
	trade  [2][]float64 // material and labor scores of the trades
	code   []float64
	group  []float64
	labor  []float64 // labor dollars by trade
	x      []float64 // price of each component, less its base
	market [kinds]float64
}

func (p *program) scratch() *scratch {
	return &scratch{
		trade: [2][]float64{make([]float64, len(p.trades)), make([]float64, len(p.trades))},
		code:  make([]float64, p.codes), group: make([]float64, p.groups),
		labor: make([]float64, len(p.trades)), x: make([]float64, len(p.base)),
	}
}

// draw samples one iteration into s and returns the total less its base, and
// the direct labor.
func (p *program) draw(s *scratch) (total, labor float64) {
	p.drawShared(s)
	material, direct := 0.0, 0.0
	for i := range p.lines {
		l := &p.lines[i]
		m, w, q := l.material, l.labor, 1.0
		if f := &l.factors[materialKind]; f.table != nil && m != 0 {
			z := s.market[materialKind] + s.trade[0][l.trade] + f.own*s.rng.NormFloat64()
			if l.code >= 0 {
				z += s.code[l.code]
			}
			m *= f.table.At(z)
		}
		if f := &l.factors[laborKind]; f.table != nil && w != 0 {
			w *= f.table.At(s.market[laborKind] + s.trade[1][l.trade] + f.own*s.rng.NormFloat64())
		}
		if f := &l.factors[quantityKind]; f.table != nil {
			q = f.table.At(s.market[quantityKind] + f.own*s.rng.NormFloat64())
		}
		m, w = m*q, w*q
		cost := m + w + l.equipment*q
		material += m
		labor += w
		direct += cost
		s.labor[l.trade] += w
		x := p.scale * (cost - p.base[i])
		s.x[i] = x
		total += x
	}
	for i := range p.events {
		x := p.scale * p.drawEvent(&p.events[i], s, material, labor, direct)
		s.x[len(p.lines)+i] = x
		total += x
	}
	return total, labor
}

// drawShared draws what lines and events have in common.
func (p *program) drawShared(s *scratch) {
	var z [kinds]float64
	for k := range z {
		z[k] = s.rng.NormFloat64()
	}
	for k := range s.market {
		s.market[k] = p.load.market[k][0]*z[0] + p.load.market[k][1]*z[1] + p.load.market[k][2]*z[2]
	}
	for t := range p.trades {
		s.trade[0][t] = p.load.trade * s.rng.NormFloat64()
		s.trade[1][t] = p.load.trade * s.rng.NormFloat64()
		s.labor[t] = 0
	}
	for c := range s.code {
		s.code[c] = p.load.code * s.rng.NormFloat64()
	}
	for g := range s.group {
		s.group[g] = s.rng.NormFloat64()
	}
}

// drawEvent returns the direct cost of an event in this iteration.
func (p *program) drawEvent(e *drawnEvent, s *scratch, material, labor, direct float64) float64 {
	z := e.own * s.rng.NormFloat64()
	if e.group >= 0 {
		z += e.shared * s.group[e.group]
	}
	if z >= e.threshold {
		return 0
	}
	base := direct
	switch e.base {
	case Material:
		base = material
	case Labor:
		base = labor
	case Direct:
	}
	severity := s.rng.NormFloat64()
	cost := 0.0
	if e.impact != nil {
		cost = e.impact.At(severity) * base
	}
	if e.delay != nil {
		// A cheap surprise is a short one: one severity drives both.
		cost += e.delay.At(severity) * p.perDay
	}
	return cost
}
