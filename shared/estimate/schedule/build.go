package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/stat"
)

// productive is the share of a paid hour that moves the work (estimating
// practice §5).
const productive = 0.85

// activity is a node of the network before it has a date.
type activity struct {
	seq      int
	id       string
	name     string
	trade    string // wire name; none for waits
	hours    float64
	crew     float64
	raw      float64 // working days of work before they are rounded up; 0 for a wait
	least    float64 // and their minimum
	wait     *wait   // calendar days
	exterior bool
	links    []Link
	factor   stat.Dist // on the hours, or on the days of a wait
}

// days returns the duration of the work when it takes factor times its hours:
// whole days, as crews come for whole days.
func (a *activity) days(factor float64) float64 {
	if a.hours == 0 { // days that are waited out, not worked
		return math.Max(a.least, math.Round(a.raw*factor))
	}
	return math.Max(a.least, math.Ceil(a.raw*factor-1e-9))
}

// ID returns the id of the task of an activity of the catalogue: it is the
// same in every estimate, so revisions of a schedule can be compared.
func ID(seq int) string { return fmt.Sprintf("A%02d", seq) }

// start is the id of the milestone from which everything follows.
var start = ID(0)

// load is the work of one activity, gathered from the lines of the bill.
type load struct {
	hours     float64
	byTrade   map[string]float64
	low, high float64 // hours-weighted sums of the labor factors
	codes     []string
}

// gather sends the hours of every line to its activities. It returns also the
// hours that run through the job and drive nothing.
func gather(c *estimate.Cost) (loads map[int]*load, through float64) {
	loads = map[int]*load{}
	for _, l := range lines(c) {
		for _, p := range place(l.CostCode, l.division, l.Trade) {
			if p.activity == none {
				through += l.LaborHours
				continue
			}
			a := loads[p.activity]
			if a == nil {
				a = &load{byTrade: map[string]float64{}}
				loads[p.activity] = a
			}
			h := l.LaborHours * p.share
			a.hours += h
			a.byTrade[catalog.TradeName(tradeKey(l.Trade))] += h
			low, high := 0.85, 1.35 // when nothing is known
			if u := l.Uncertainty.Labor; u.Likely > 0 && u.High > u.Low {
				low, high = u.Low/u.Likely, u.High/u.Likely
			}
			a.low, a.high = a.low+h*low, a.high+h*high
			a.codes = append(a.codes, l.CostCode)
		}
	}
	return loads, through
}

// line is a line of the bill with its division.
type line struct {
	*estimate.CostLine
	division string
}

// lines returns the bill in an order that depends on what the lines are, so
// that sums do not depend on how they were listed.
func lines(c *estimate.Cost) []line {
	var list []line
	for d, l := range c.Lines {
		list = append(list, line{l, c.Divisions[d].Code})
	}
	slices.SortStableFunc(list, func(a, b line) int {
		return cmp.Or(
			cmp.Compare(a.CostCode, b.CostCode), cmp.Compare(a.division, b.division), cmp.Compare(a.Trade, b.Trade),
			cmp.Compare(a.LaborHours, b.LaborHours), cmp.Compare(a.Uncertainty.Labor.Low, b.Uncertainty.Labor.Low),
			cmp.Compare(a.Uncertainty.Labor.High, b.Uncertainty.Labor.High),
		)
	})
	return list
}

// build returns the activities of the job in the order of the catalogue, with
// links among those that are there.
func build(ctx estimate.Context) (list []*activity, through float64) {
	loads, through := gather(ctx.Cost)
	list = []*activity{{id: start, name: "Project start", trade: "none", factor: stat.Constant(1)}}
	present := map[int]*activity{}
	for i := range catalog.Activities() {
		row := &catalog.Activities()[i]
		if a := makeActivity(ctx, row, loads); a != nil {
			present[row.Seq] = a
			list = append(list, a)
		}
	}
	orders := orderNodes(ctx, present)
	link(present, orders)
	at := slices.IndexFunc(list, func(a *activity) bool { return a.seq > order })
	list = slices.Insert(list, at, orders...)
	join(list)
	reduce(list)
	return list, through
}

// makeActivity returns the activity of a row, or nil when the job has none.
func makeActivity(ctx estimate.Context, row *catalog.Activity, loads map[int]*load) *activity {
	work := loads[row.Seq]
	a := &activity{seq: row.Seq, id: ID(row.Seq), name: row.Name, trade: "none", exterior: row.WeatherSensitive}
	switch row.Seq {
	case order:
		return nil // one node for each class of goods, see orderNodes
	case design, permit, cure:
		if a.wait = waitOf(ctx, row.Seq, loads); a.wait == nil {
			return nil
		}
	case roughInspection, finalInspection, template:
		if !needed(ctx, row.Seq, loads) {
			return nil
		}
		a.raw, a.least = row.MinDays, row.MinDays
		a.factor = stat.PERT(1, 1, 3) // an inspector who comes late, or twice
		if row.Seq == template {
			a.least = 1
			a.factor = stat.PERT(7.0/8, 1, 12.0/8) // 7 to 12 days
		}
	case mobilize, punchList:
		if work == nil {
			work = &load{byTrade: map[string]float64{"general_labor": 0}}
		}
		fill(a, row, work)
	default:
		if work == nil || work.hours <= 0 {
			return nil
		}
		fill(a, row, work)
	}
	if a.wait != nil {
		if work != nil { // the designer's hours, which do not decide how long design takes
			a.hours = work.hours
		}
		a.factor = stat.PERT(a.wait.low/a.wait.likely, 1, a.wait.high/a.wait.likely)
	}
	return a
}

// waitOf returns how long design, permit or cure take, in calendar days; nil
// when the job has none.
func waitOf(ctx estimate.Context, seq int, loads map[int]*load) *wait {
	switch {
	case seq == design && (ctx.Cost.Adjustments.DesignPct > 0 || loads[design] != nil):
		w := designWaits[complexity(ctx)]
		return &w
	case seq == permit && hasPermit(ctx):
		w := permitWaits[permitClass(ctx)]
		return &w
	case seq == cure && loads[footings] != nil:
		return &wait{7, 7, 10}
	}
	return nil
}

// needed reports whether the job has an inspection, or counters to template.
func needed(ctx estimate.Context, seq int, loads map[int]*load) bool {
	switch seq {
	case template:
		return hasStone(ctx.Cost)
	case roughInspection:
		return hasPermit(ctx) && (loads[plumbingRough] != nil || loads[hvacRough] != nil || loads[electricalRough] != nil || loads[framing] != nil)
	}
	return hasPermit(ctx)
}

// fill sets duration, crew and trade from the hours.
func fill(a *activity, row *catalog.Activity, work *load) {
	a.hours, a.crew = work.hours, math.Max(1, row.CrewSize)
	a.raw, a.least = work.hours/(a.crew*8*productive), math.Max(1, row.MinDays)
	a.factor = stat.Judged(0.85, 1, 1.35)
	if work.hours > 0 {
		a.factor = stat.Judged(work.low/work.hours, 1, work.high/work.hours)
	}
	a.trade = mainTrade(work.byTrade)
	a.name = called(row, work.codes)
}

func mainTrade(hours map[string]float64) string {
	best := ""
	for trade, h := range hours {
		if best == "" || h > hours[best] || h == hours[best] && trade < best {
			best = trade
		}
	}
	return best
}

// called returns the name of an activity, more precise where its lines allow.
func called(row *catalog.Activity, codes []string) string {
	every := func(prefixes ...string) bool {
		return len(codes) > 0 && !slices.ContainsFunc(codes, func(c string) bool { return !hasPrefix(c, prefixes) })
	}
	switch {
	case row.Seq == cladding && every("0615", "0991"):
		return "Decking, rails and stairs"
	case row.Seq == framing && every("0615"):
		return "Deck framing"
	case row.Seq == cladding && every("0991"):
		return "Exterior paint"
	case row.Seq == appliances && every("10", "088", "12"):
		return "Glass, accessories and furnishings"
	case row.Seq == appliances && slices.ContainsFunc(codes, func(c string) bool { return hasPrefix(c, []string{"10", "088"}) }):
		return "Appliances, glass and accessories"
	}
	return row.Name
}

// orderNodes returns an order for each class of goods that an activity of the
// job installs.
func orderNodes(ctx estimate.Context, present map[int]*activity) []*activity {
	var list []*activity
	for _, l := range ordered(ctx.Cost) {
		if present[l.before] == nil {
			continue
		}
		w := l.wait
		list = append(list, &activity{
			seq: order, id: ID(order) + "-" + l.id, name: "Order and delivery: " + l.name, trade: "none", wait: &w,
			links: bridge(order, present), factor: stat.PERT(w.low/w.likely, 1, w.high/w.likely),
		})
		present[l.before].links = append(present[l.before].links, Link{On: list[len(list)-1].id, Relation: FinishToStart})
	}
	return list
}

// link adds to each activity its predecessors of the catalogue. A predecessor
// that the job has not is replaced by the predecessors of that one.
func link(present map[int]*activity, orders []*activity) {
	for _, row := range catalog.Activities() {
		a := present[row.Seq]
		if a == nil {
			continue
		}
		a.links = append(a.links, bridge(row.Seq, present)...)
		if len(a.links) == 0 || onlyOrders(a, orders) {
			a.links = append(a.links, Link{On: start, Relation: FinishToStart})
		}
	}
}

func onlyOrders(a *activity, orders []*activity) bool {
	for _, l := range a.links {
		if !slices.ContainsFunc(orders, func(o *activity) bool { return o.id == l.On }) {
			return false
		}
	}
	return true
}

// bridge returns the links of an activity to the nearest predecessors that are
// there, and to the start when there is none.
func bridge(seq int, present map[int]*activity) []Link {
	row := &catalog.Activities()[seq-1]
	var links []Link
	for _, field := range strings.FieldsFunc(row.Predecessors, func(r rune) bool { return r == ',' || r == ' ' }) {
		on, err := strconv.Atoi(field)
		if err != nil || on == order {
			continue
		}
		if p := present[on]; p != nil {
			l := Link{On: p.id, Relation: row.Relation, Lag: row.LagDays}
			if row.CrewSize == 0 { // the lag of a wait is its duration
				l.Lag = 0
			}
			links = append(links, l)
			continue
		}
		for _, l := range bridge(on, present) {
			links = append(links, Link{On: l.On, Relation: FinishToStart}) // lag and relation were those of the absent one
		}
	}
	if len(links) == 0 {
		links = []Link{{On: start, Relation: FinishToStart}}
	}
	return links
}

// join lets the last inspection, or the punch list, wait for every activity
// that nothing else waits for: the network has one finish.
func join(list []*activity) {
	last := list[len(list)-1]
	if n := len(list) - 2; n > 0 && list[n].seq == finalInspection {
		last = list[n]
	}
	followed := map[string]bool{}
	for _, a := range list {
		for _, l := range a.links {
			followed[l.On] = followed[l.On] || l.Relation == FinishToStart
		}
	}
	for _, a := range list {
		if !followed[a.id] && a != last && a.seq < last.seq {
			last.links = append(last.links, Link{On: a.id, Relation: FinishToStart})
		}
	}
}

// reduce drops repeated links and those that a chain of finish-to-start links
// implies.
func reduce(list []*activity) {
	at := map[string]*activity{}
	for _, a := range list {
		at[a.id] = a
	}
	for _, a := range list {
		seen := map[Link]bool{}
		a.links = slices.DeleteFunc(a.links, func(l Link) bool {
			twice := seen[l]
			seen[l] = true
			return twice
		})
		implied := map[string]bool{}
		for _, l := range a.links {
			if l.Relation == FinishToStart {
				before(at, l.On, implied)
			}
		}
		a.links = slices.DeleteFunc(a.links, func(l Link) bool {
			return l.Lag == 0 && l.Relation == FinishToStart && implied[l.On]
		})
		slices.SortStableFunc(a.links, func(x, y Link) int { return strings.Compare(x.On, y.On) })
	}
}

// before marks every activity that must finish before the one with this id
// starts.
func before(at map[string]*activity, id string, marked map[string]bool) {
	for _, l := range at[id].links {
		if l.Relation == FinishToStart && !marked[l.On] {
			marked[l.On] = true
			before(at, l.On, marked)
		}
	}
}

func permitClass(ctx estimate.Context) string {
	if class := ctx.Cost.Adjustments.PermitClass; class != "" {
		return class
	}
	if ctx.Scope != nil {
		if p := catalog.ProjectTypeByKey(ctx.Scope.ProjectKey); p != nil {
			return p.PermitClass
		}
	}
	return "none"
}

func hasPermit(ctx estimate.Context) bool {
	_, ok := permitWaits[permitClass(ctx)]
	return ok
}

func complexity(ctx estimate.Context) string {
	kind := ""
	if ctx.Clarification != nil {
		kind = ctx.Clarification.Brief.Summary.Complexity
	} else if ctx.Scope != nil {
		kind = ctx.Scope.Complexity
	}
	if _, ok := designWaits[kind]; !ok {
		return "moderate"
	}
	return kind
}
