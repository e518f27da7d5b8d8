package montecarlo

import (
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// Relevant is an entry of the register that this job can meet.
type Relevant struct {
	catalog.Risk

	Chance float64 // the catalogue's probability, weighed by what is known of the job
	Why    string
}

// Register returns the catalogue's risks for this kind of job: those it can
// meet, and those it cannot or must not count, each with the reason. Both are
// in the order of the catalogue.
//
// A risk is left out when its uncertainty already lies in the ranges of the
// lines or in the price itself (nothing is counted twice), and when nothing in
// the scope, the house or the place can trigger it.
func Register(ctx estimate.Context) (in []Relevant, out []estimate.ExcludedRisk) {
	j := newJob(ctx)
	for _, r := range catalog.Risks() {
		if !applies(r.ProjectTypes, j.group) {
			continue
		}
		if why, ok := counted[r.ID]; ok {
			out = append(out, estimate.ExcludedRisk{ID: r.ID, Item: r.Name, Why: why})
			continue
		}
		chance, why := r.Probability, "Met on any job of this kind: "+lowerFirst(r.Trigger)+"."
		if rule, ok := rules[r.ID]; ok {
			var weight float64
			weight, why = rule(j)
			chance *= weight
		}
		if chance <= 0 {
			out = append(out, estimate.ExcludedRisk{ID: r.ID, Item: r.Name, Why: why})
			continue
		}
		in = append(in, Relevant{Risk: r, Chance: min(chance, 0.9), Why: why})
	}
	return in, out
}

// counted are the entries whose uncertainty stands elsewhere in the estimate.
var counted = map[string]string{
	"R012": "Additions by the owner are change orders with a price of their own, not a risk of this scope.",
	"R013": "The ranges of allowance lines are widened for what the selections may cost.",
	"R014": "Price rises lie in the material range of each line, and those until the work starts in the escalation.",
	"R015": "Price spikes lie in the upper end of the material range of each line.",
	"R038": "Take-off error is the quantity range of each line.",
	"R039": "Price and productivity error are the material and labor ranges of each line.",
	"R046": "Changes by the tenant are change orders with a price of their own, not a risk of this scope.",
}

// applies reports whether a list of risk groups names the group.
func applies(types, group string) bool {
	if types == "all" {
		return true
	}
	return slices.Contains(strings.Split(types, ","), group)
}

// job is what relevance may depend on.
type job struct {
	group  string // risk group of the project type
	year   int    // built, 0 when unknown
	unit   bool   // the address names a unit
	codes  []string
	subs   int    // subcontracted lines
	words  string // of the brief, in lower case
	permit bool
	months []int // 0–11, in which the work probably runs
	lost   *[12]float64
	winter string
	zone   byte // first digit of the climate zone, '0' when unknown
}

func newJob(ctx estimate.Context) *job {
	j := &job{group: Group(ctx), zone: '0', permit: true}
	if c := ctx.Clarification; c != nil {
		j.year, j.unit = c.Brief.YearBuilt, c.Brief.Location.Unit != ""
		j.words = strings.ToLower(strings.Join(append([]string{c.Brief.Summary.Description, c.ProjectScope}, c.Brief.SpecialRequirements...), "\n"))
		if s := catalog.StateByAbbr(c.Brief.Location.State); s != nil && s.ClimateZone != "" {
			j.zone = s.ClimateZone[0]
		}
	}
	if l := ctx.Location; l != nil {
		j.lost, j.winter = &l.Weather.LostDays, l.Weather.WinterImpact
	}
	if c := ctx.Cost; c != nil {
		j.permit = c.Adjustments.PermitClass != "" && c.Adjustments.PermitClass != "none"
		for _, l := range c.Lines {
			j.codes = append(j.codes, strings.ReplaceAll(l.CostCode, " ", ""))
			if l.Subcontract {
				j.subs++
			}
		}
		slices.Sort(j.codes) // so that reasons do not depend on the order of the lines
	}
	j.months = months(ctx)
	return j
}

// Group returns the risk group of the job: that of its project key, else that
// of the first project of its type, else "all".
func Group(ctx estimate.Context) string {
	if ctx.Scope != nil {
		if p := catalog.ProjectTypeByKey(ctx.Scope.ProjectKey); p != nil {
			return p.RiskGroup
		}
	}
	kind := ""
	if ctx.Clarification != nil {
		kind = ctx.Clarification.Brief.ProjectType
	} else if ctx.Scope != nil {
		kind = ctx.Scope.ProjectType
	}
	for _, p := range catalog.ProjectTypes() {
		if p.SchemaType == kind {
			return p.RiskGroup
		}
	}
	return "all"
}

// months returns those in which the work probably runs, from the start wished
// and the provisional duration; none when no start is known.
func months(ctx estimate.Context) []int {
	if ctx.Clarification == nil || ctx.Clarification.Brief.Timeline.Start == nil {
		return nil
	}
	start := *ctx.Clarification.Brief.Timeline.Start
	var list []int
	for day := 0.0; day <= provisionalDays(ctx)*7/5; day += 28 {
		m := int(start.AddDate(0, 0, int(day)).Month()) - 1
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// with returns the first code that begins with one of the prefixes.
func (j *job) with(prefixes ...string) (code string, ok bool) {
	for _, c := range j.codes {
		for _, p := range prefixes {
			if strings.HasPrefix(c, p) {
				return c, true
			}
		}
	}
	return "", false
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

func named(code string) string {
	if item := catalog.ItemByCode(code); item != nil {
		return fmt.Sprintf("%s (%s)", lowerFirst(item.Name), code)
	}
	return code
}
