package locality_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/locality"
)

func at(zip, city, state string) estimate.Address {
	return estimate.Address{Zip: zip, City: city, State: state}
}

func locate(a estimate.Address) estimate.Location {
	return locality.Locate(a, "standard", locality.Auto)
}

func TestLadder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		addr        estimate.Address
		level       string
		state       string
		factor      float64
		review      bool
		wantWarning string // a word of it; empty when none is about the place
	}{
		{"metro area by prefix", at("80202", "Denver", "CO"), "zip", "CO", 1.032, false, ""},
		{"small town by prefix", at("54801", "Spooner", "WI"), "zip", "WI", 1.024, false, ""},
		{"no ZIP, known city", at("", "Denver", "CO"), "metro", "CO", 1.032, true, "by its name"},
		{"no ZIP, unknown city", at("", "Nowhere", "CO"), "state", "CO", 1.006, true, "average of Colorado"},
		{"nothing", at("", "", ""), "national", "", 1, true, "national average"},
		{"unused prefix, known state", at("00012", "", "TX"), "state", "TX", 0.896, true, "no prefix"},
		{"military", at("09012", "APO", "AE"), "national", "AE", 1, true, "national average"},
		{"Guam", at("96913", "Barrigada", "GU"), "national", "GU", 1, true, "national average"},
		{"Puerto Rico", at("00901", "San Juan", "PR"), "zip", "PR", 0.728, true, "judgement"},
		{"a prefix across the border", at("83414", "Alta", "WY"), "zip", "WY", 0.961, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := locate(tt.addr)
			if got.Level != tt.level || got.State != tt.state || got.NeedsReview != tt.review {
				t.Errorf("Locate(%+v) = level %q state %q review %t, want %q %q %t", tt.addr, got.Level, got.State, got.NeedsReview, tt.level, tt.state, tt.review)
			}
			if math.Abs(got.LocationFactor-tt.factor) > 0.0006 {
				t.Errorf("Locate(%+v).LocationFactor = %v, want %v", tt.addr, got.LocationFactor, tt.factor)
			}
			if all := strings.Join(got.Warnings, " "); !strings.Contains(all, tt.wantWarning) {
				t.Errorf("Locate(%+v).Warnings = %q, want one with %q", tt.addr, all, tt.wantWarning)
			}
		})
	}
}

func TestContradictoryAddress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		addr  estimate.Address
		trust locality.Trust
		want  string
	}{
		{"the ZIP wins over the state", at("80202", "Smallville", "NY"), locality.Auto, "CO"},
		{"city and state outvote the ZIP", at("10202", "Denver", "CO"), locality.Auto, "CO"},
		{"a city of both sides leaves it to the ZIP", at("80202", "Denver", "NY"), locality.Auto, "CO"},
		{"told to trust the state", at("80202", "Smallville", "NY"), locality.TrustState, "NY"},
		{"told to trust the ZIP", at("10202", "Denver", "CO"), locality.TrustZip, "NY"},
		{"a state that does not exist", at("80202", "Denver", "ZZ"), locality.TrustState, "CO"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := locality.Locate(tt.addr, "standard", tt.trust)
			if got.State != tt.want {
				t.Errorf("Locate(%+v).State = %q, want %q", tt.addr, got.State, tt.want)
			}
			if !got.NeedsReview || len(got.Warnings) == 0 || got.Confidence >= 0.8 {
				t.Errorf("Locate(%+v): review %t, %d warnings, confidence %v; want a reported contradiction", tt.addr, got.NeedsReview, len(got.Warnings), got.Confidence)
			}
		})
	}
}

func TestOrderOfCities(t *testing.T) {
	t.Parallel()
	ny, denver, houston := locate(at("10001", "New York", "NY")), locate(at("80202", "Denver", "CO")), locate(at("77002", "Houston", "TX"))
	if ny.LocationFactor <= denver.LocationFactor || denver.LocationFactor <= houston.LocationFactor {
		t.Errorf("factors New York %v, Denver %v, Houston %v, want them falling", ny.LocationFactor, denver.LocationFactor, houston.LocationFactor)
	}
	for _, trade := range []string{"electrician", "plumber", "general_labor", "tile_setter"} {
		if ny.LaborRates[trade] <= denver.LaborRates[trade] || denver.LaborRates[trade] <= houston.LaborRates[trade] {
			t.Errorf("%s: New York %v, Denver %v, Houston %v, want them falling", trade, ny.LaborRates[trade], denver.LaborRates[trade], houston.LaborRates[trade])
		}
	}
}

func TestNationalAverageIsOne(t *testing.T) {
	t.Parallel()
	got := locate(at("", "", ""))
	if got.LaborIndex != 1 || got.MaterialIndex != 1 || got.LocationFactor != 1 {
		t.Errorf("indexes %v %v %v, want 1", got.LaborIndex, got.MaterialIndex, got.LocationFactor)
	}
	for _, trade := range catalog.Trades() {
		if rate := got.LaborRates[catalog.TradeName(trade.Key)].Float(); math.Abs(rate-trade.Rate) > 1e-9 {
			t.Errorf("%s: %v, want the national rate %v", trade.Key, rate, trade.Rate)
		}
	}
}

func TestPermitsByClass(t *testing.T) {
	t.Parallel()
	// California is at 2.4 of the typical 1.3 percent: 220 and 1.0 percent, times 1.846.
	ca := locality.Locate(at("90012", "Los Angeles", "CA"), "standard", locality.Auto).Permits
	fixed := ca.Base + ca.PlanReview + ca.Inspection + ca.Electrical + ca.Plumbing + ca.Mechanical + ca.Impact
	if got := fixed.Float(); math.Abs(got-406.15) > 0.03 {
		t.Errorf("fixed fees of the standard class in CA = %v, want 406.15", got)
	}
	if ca.Percentage != 0.01846 {
		t.Errorf("percentage of the standard class in CA = %v, want 0.01846", ca.Percentage)
	}
	nation := locality.Locate(at("", "", ""), "standard", locality.Auto).Permits
	if got := nation.Base + nation.PlanReview + nation.Inspection + nation.Electrical + nation.Plumbing + nation.Mechanical; nation.Percentage != 0.01 || math.Abs(got.Float()-220) > 0.03 {
		t.Errorf("national fees of the standard class = %v and %v, want the table's 220 and 0.01", got, nation.Percentage)
	}
	if none := locality.Locate(at("21201", "Baltimore", "MD"), "none", locality.Auto).Permits; none.Base != 0 || none.Percentage != 0 {
		t.Errorf("permits of class none = %+v, want nothing", none)
	}
	for _, class := range catalog.PermitFees() {
		got := locality.Locate(at("80202", "Denver", "CO"), class.Class, locality.Auto)
		if got.Permits.Class != class.Class || len(got.Warnings) != 0 {
			t.Errorf("class %q: got %q, warnings %v", class.Class, got.Permits.Class, got.Warnings)
		}
	}
	if odd := locality.Locate(at("80202", "Denver", "CO"), "palace", locality.Auto); odd.Permits.Class != "standard" || len(odd.Warnings) == 0 {
		t.Errorf("unknown class: got %q, warnings %v", odd.Permits.Class, odd.Warnings)
	}
}

func TestWeather(t *testing.T) {
	t.Parallel()
	alaska, phoenix := locate(at("99501", "Anchorage", "AK")).Weather, locate(at("85001", "Phoenix", "AZ")).Weather
	if alaska.WinterImpact != "severe" || phoenix.WinterImpact != "none" {
		t.Errorf("winter: Anchorage %q, Phoenix %q", alaska.WinterImpact, phoenix.WinterImpact)
	}
	if alaska.Seasonal <= phoenix.Seasonal || alaska.FrostDepth <= phoenix.FrostDepth {
		t.Errorf("Anchorage %+v is not harder than Phoenix %+v", alaska, phoenix)
	}
	if alaska.LostDays[0] != 12 {
		t.Errorf("lost days of an Anchorage January = %v, want 12", alaska.LostDays[0])
	}
}

func TestSurveyDisagreementIsReported(t *testing.T) {
	t.Parallel()
	got := strings.Join(locate(at("96801", "Honolulu", "HI")).Warnings, " ")
	for _, trade := range []string{"tile_setter +26 %", "drywall_installer +26 %"} {
		if !strings.Contains(got, trade) {
			t.Errorf("Honolulu: warnings %q, want %q", got, trade)
		}
	}
	if got := locate(at("80202", "Denver", "CO")).Warnings; len(got) != 0 {
		t.Errorf("Denver: warnings %q, want none", got)
	}
}

func TestEveryStateAndTerritory(t *testing.T) {
	t.Parallel()
	for _, p := range catalog.Prefixes() {
		got := locate(at(p.Zip3+"01", p.City, p.State))
		if got.State != p.State || got.LocationFactor <= 0 {
			t.Errorf("prefix %s: state %q factor %v, want %q", p.Zip3, got.State, got.LocationFactor, p.State)
		}
		if p.LocationIndex != nil && math.Abs(got.LocationFactor-*p.LocationIndex) > 0.0006 {
			t.Errorf("prefix %s: factor %v, want the table's %v", p.Zip3, got.LocationFactor, *p.LocationIndex)
		}
		if words := len(strings.Fields(got.Analysis)); words < 50 {
			t.Errorf("prefix %s: analysis of %d words, want 50", p.Zip3, words)
		}
	}
}

func TestAnyAddress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		addr := estimate.Address{
			Zip:   rapid.OneOf(rapid.StringMatching(`[0-9]{5}`), rapid.String()).Draw(t, "zip"),
			City:  rapid.OneOf(rapid.SampledFrom([]string{"Denver", "Portland", "San Juan"}), rapid.String()).Draw(t, "city"),
			State: rapid.OneOf(rapid.SampledFrom([]string{"CO", "ME", "PR", "dc"}), rapid.String()).Draw(t, "state"),
		}
		class := rapid.SampledFrom([]string{"none", "minor", "standard", "structural", "new", "", "x"}).Draw(t, "class")
		trust := locality.Trust(rapid.IntRange(0, 2).Draw(t, "trust"))
		got := locality.Locate(addr, class, trust)
		if got.LocationFactor < 0.7 || got.LocationFactor > 1.45 {
			t.Fatalf("factor %v out of 0.70–1.45", got.LocationFactor)
		}
		if got.Confidence < 0.3 || got.Confidence > 0.95 {
			t.Fatalf("confidence %v out of 0.30–0.95", got.Confidence)
		}
		for _, trade := range catalog.Trades() {
			if trade.Rate > 0 && got.LaborRates[catalog.TradeName(trade.Key)] <= 0 {
				t.Fatalf("no rate for %s", trade.Key)
			}
		}
		if again := locality.Locate(addr, class, trust); !cmp.Equal(got, again) {
			t.Fatalf("two answers for one address:\n%s", cmp.Diff(got, again))
		}
	})
}

func ExampleLocate() {
	loc := locality.Locate(estimate.Address{Zip: "80202", City: "Denver", State: "CO"}, "standard", locality.Auto)
	fmt.Println(loc.Summary)
	fmt.Println("electrician", loc.LaborRates["electrician"].Float())
	// Output:
	// Denver, CO: location factor 1.032 (zip), labor 1.050, material 1.006 of the national average.
	// electrician 44.415
}
