package montecarlo

import (
	"math"

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
