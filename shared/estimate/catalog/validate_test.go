package catalog_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

func known(unit string) bool {
	u, ok := estimate.ParseUnit(unit)
	return ok && string(u) == unit
}

func TestItemsAreSound(t *testing.T) {
	t.Parallel()
	code := regexp.MustCompile(`^\d{6}\.\d{2}$`)
	for _, it := range catalog.Items() {
		if !code.MatchString(it.Code) || strings.ReplaceAll(it.Section, " ", "") != it.Code[:6] || it.Division != it.Code[:2] {
			t.Errorf("%s: section %q, division %q do not fit the code", it.Code, it.Section, it.Division)
		}
		if it.MatLow > it.MatTyp || it.MatTyp > it.MatHigh || it.MatLow < 0 {
			t.Errorf("%s: material %v ≤ %v ≤ %v does not hold", it.Code, it.MatLow, it.MatTyp, it.MatHigh)
		}
		if it.HoursLow > it.HoursTyp || it.HoursTyp > it.HoursHigh || it.HoursLow < 0 {
			t.Errorf("%s: hours %v ≤ %v ≤ %v does not hold", it.Code, it.HoursLow, it.HoursTyp, it.HoursHigh)
		}
		if it.MatTyp == 0 && it.HoursTyp == 0 && it.Equipment == 0 {
			t.Errorf("%s: costs nothing at all", it.Code)
		}
		if it.WastePct < 0 || it.WastePct > 20 {
			t.Errorf("%s: waste %v out of 0–20", it.Code, it.WastePct)
		}
		if !known(it.Unit) {
			t.Errorf("%s: unit %q is not canonical", it.Code, it.Unit)
		}
		if trade := catalog.TradeByKey(it.Trade); trade == nil || it.Trade == "none" && it.HoursTyp > 0 {
			t.Errorf("%s: trade %q cannot do %v hours", it.Code, it.Trade, it.HoursTyp)
		}
		if it.Confidence == "" {
			t.Errorf("%s: no confidence", it.Code)
		}
	}
}

func TestOtherNamesBelongToItems(t *testing.T) {
	t.Parallel()
	owner := map[string]string{}
	for _, w := range catalog.Words() {
		it := catalog.ItemByCode(w.Code)
		if it == nil {
			t.Errorf("item_words: %s is no item", w.Code)
			continue
		}
		names := catalog.NamesOf(it)
		if names[0] != it.Name || len(names) < 2 {
			t.Errorf("NamesOf(%s) = %q, want its own name first and another", w.Code, names)
		}
		for _, name := range names {
			name = strings.ToLower(strings.TrimSpace(name))
			if other, taken := owner[name]; name == "" || taken && other != w.Code {
				t.Errorf("the name %q of %s is empty or taken by %s", name, w.Code, other)
			}
			owner[name] = w.Code
		}
	}
}

func TestAssembliesAndProjectTypesAreSound(t *testing.T) {
	t.Parallel()
	for _, line := range catalog.AssemblyLines() {
		it := catalog.ItemByCode(line.ItemCode)
		if it == nil || it.Unit != line.Unit || catalog.ProjectTypeByKey(line.ProjectKey) == nil || line.Formula == "" {
			t.Errorf("assemblies: %+v does not fit items and project types", line)
		}
	}
	groups := map[string]int{}
	for _, r := range catalog.Risks() {
		for g := range strings.SplitSeq(r.ProjectTypes, ",") {
			groups[strings.TrimSpace(g)]++
		}
		if r.Probability < 0 || r.Probability > 1 || r.CostLowPct > r.CostModePct || r.CostModePct > r.CostHighPct || r.DelayLow > r.DelayMode || r.DelayMode > r.DelayHigh {
			t.Errorf("risk %s is not ordered", r.ID)
		}
	}
	for _, p := range catalog.ProjectTypes() {
		if catalog.MarkupByProfile(p.MarkupProfile) == nil || catalog.PermitByClass(p.PermitClass) == nil {
			t.Errorf("%s: profile %q or permit class %q is unknown", p.Key, p.MarkupProfile, p.PermitClass)
		}
		if n := groups[p.RiskGroup] + groups["all"]; n < 10 {
			t.Errorf("%s: %d risks are of group %q or all, want 10", p.Key, n, p.RiskGroup)
		}
		for pair := range strings.SplitSeq(p.PricePoints, ";") {
			if _, column, _ := strings.Cut(pair, ":"); column != "low" && column != "typ" && column != "high" {
				t.Errorf("%s: price point %q has no column", p.Key, pair)
			}
		}
	}
}

// Every formula parses, over the drivers its type has, and gives a quantity at
// small, default and large size.
func TestEveryFormulaOfTheCatalogue(t *testing.T) {
	t.Parallel()
	for _, p := range catalog.ProjectTypes() {
		_, usual, err := catalog.UsualBill(&p, 0)
		if err != nil {
			t.Fatal(err)
		}
		last := -1.0
		for _, size := range []float64{0.25, 1, 4} {
			bill, area, err := catalog.UsualBill(&p, usual*size)
			if err != nil || area != usual*size {
				t.Fatalf("%s of %v sf: %v sf, %v", p.Key, usual*size, area, err)
			}
			sum := 0.0
			for _, portion := range bill {
				if portion.Item == nil || portion.Quantity < 0 || math.IsNaN(portion.Quantity) || math.IsInf(portion.Quantity, 0) {
					t.Fatalf("%s of %v sf: portion %+v", p.Key, area, portion)
				}
				sum += portion.Quantity
			}
			if sum < last || sum == 0 {
				t.Errorf("%s of %v sf: quantities sum to %v, less than of a smaller one (%v)", p.Key, area, sum, last)
			}
			last = sum
		}
	}
}

func TestPlacesAreSound(t *testing.T) {
	t.Parallel()
	index := func(what string, x float64) {
		if x < 0.45 || x > 1.5 {
			t.Errorf("%s: index %v out of range", what, x)
		}
	}
	if n := len(catalog.States()); n != 51 {
		t.Errorf("%d states, want 50 and DC", n)
	}
	for _, s := range catalog.States() {
		index(s.Abbr, s.LaborIndex)
		index(s.Abbr, s.MaterialIndex)
		if c := 0.6*s.LaborIndex + 0.4*s.MaterialIndex; math.Abs(c-s.LocationIndex) > 0.002 {
			t.Errorf("%s: location index %v, want the composite %v", s.Abbr, s.LocationIndex, c)
		}
		if s.SalesTaxPct < 0 || s.SalesTaxPct > 11 || s.PermitMin <= 0 || s.ClimateZone == "" {
			t.Errorf("%s: tax %v, permit minimum %v, zone %q", s.Abbr, s.SalesTaxPct, s.PermitMin, s.ClimateZone)
		}
		for m, days := range s.LostDays() {
			if days < 0 || days > 21 {
				t.Errorf("%s: %v lost days in month %d", s.Abbr, days, m+1)
			}
		}
	}
	for _, m := range catalog.Metros() {
		index(m.Key, m.LaborIndex)
		for zip3 := range strings.FieldsSeq(m.Zip3) {
			if p := catalog.PrefixByZip3(zip3); p == nil || p.MetroKey != m.Key {
				t.Errorf("metro %s: prefix %s leads elsewhere", m.Key, zip3)
			}
		}
	}
	for _, p := range catalog.Prefixes() {
		if p.MetroKey != "" && catalog.MetroByKey(p.MetroKey) == nil {
			t.Errorf("prefix %s: metro %q does not exist", p.Zip3, p.MetroKey)
		}
	}
}

func TestTradesAndWagesAreSound(t *testing.T) {
	t.Parallel()
	for _, tr := range catalog.Trades() {
		if want := tr.CrewWage * (1 + tr.BurdenPct/100); math.Abs(tr.Rate-want) > 0.03 { // wages are rounded before burden
			t.Errorf("%s: rate %v, want crew wage and burden %v", tr.Key, tr.Rate, want)
		}
	}
	for _, w := range catalog.Wages() {
		if w.Mean2025 < 10 || w.Mean2025 > 120 {
			t.Errorf("wage of %s in %s: %v", w.Trade, w.Area, w.Mean2025)
		}
	}
}

func TestDefaultItem(t *testing.T) {
	t.Parallel()
	for _, d := range catalog.Divisions() {
		for _, unit := range []string{"ea", "sf", "lf", "cy", "hr", "ls", "furlong"} {
			it := catalog.DefaultItem(d.Code, unit)
			if it == nil || it.Code != "GEN-"+d.Code+"-001" || it.Unit != unit || catalog.TradeByKey(it.Trade) == nil {
				t.Fatalf("DefaultItem(%s, %s) = %+v", d.Code, unit, it)
			}
			if it.MatTyp+it.HoursTyp+it.Equipment <= 0 || it.MatLow > it.MatTyp || it.MatTyp > it.MatHigh {
				t.Errorf("DefaultItem(%s, %s) costs %v, %v, %v", d.Code, unit, it.MatLow, it.MatTyp, it.MatHigh)
			}
			if !catalog.IsDefaultCode(it.Code) {
				t.Errorf("IsDefaultCode(%q) = false", it.Code)
			}
		}
	}
	if it := catalog.DefaultItem("09", "sf"); it.MatTyp != 3 || it.HoursTyp != 0.15 {
		t.Errorf("DefaultItem(09, sf) = %v and %v h, want the assumed 3 and 0.15", it.MatTyp, it.HoursTyp)
	}
	if it := catalog.DefaultItem("09", "ls"); it.MatTyp != 250 || it.HoursTyp != 8 {
		t.Errorf("DefaultItem(09, ls) = %v and %v h, want a crew day", it.MatTyp, it.HoursTyp)
	}
	if it := catalog.DefaultItem("06", "day"); it.MatTyp != 0 || it.HoursTyp != 8 || it.Trade != "carpenter" {
		t.Errorf("DefaultItem(06, day) = %v and %v h of %s, want 8 hours of a carpenter", it.MatTyp, it.HoursTyp, it.Trade)
	}
	if set, one := catalog.DefaultItem("08", "set"), catalog.DefaultItem("08", "ea"); set.MatTyp != one.MatTyp {
		t.Errorf("DefaultItem(08, set) = %v, want that of one, %v", set.MatTyp, one.MatTyp)
	}
	if it := catalog.DefaultItem("09", "cy"); it.MatTyp != 3 {
		t.Errorf("DefaultItem(09, cy) = %v, want the figure of the table, for want of another", it.MatTyp)
	}
	if it := catalog.DefaultItem("99", "sf"); it != nil {
		t.Errorf("DefaultItem(99) = %+v, want nil", it)
	}
}
