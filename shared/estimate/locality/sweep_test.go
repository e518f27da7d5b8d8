package locality_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/locality"
)

// assigned are the prefixes as the Postal Service gives them to states, the
// District, territories and the military; written down apart from the catalogue,
// and coarser: a prefix in a range may be unused.
const assigned = `005 NY;006-007 PR;008 VI;009 PR;010-027 MA;028-029 RI;030-038 NH;039-049 ME;050-054 VT;055 MA;056-059 VT;060-069 CT;070-089 NJ;
090-099 AE;100-149 NY;150-196 PA;197-199 DE;200 DC;201 VA;202-205 DC;206-219 MD;220-246 VA;247-268 WV;270-289 NC;290-299 SC;300-319 GA;320-339 FL;
340 AA;341-349 FL;350-369 AL;370-385 TN;386-397 MS;398-399 GA;400-427 KY;430-459 OH;460-479 IN;480-499 MI;500-528 IA;530-549 WI;550-567 MN;569 DC;
570-577 SD;580-588 ND;590-599 MT;600-629 IL;630-658 MO;660-679 KS;680-693 NE;700-714 LA;716-729 AR;730-732 OK;733 TX;734-749 OK;750-799 TX;800-816 CO;
820-831 WY;832-838 ID;840-847 UT;850-865 AZ;870-884 NM;885 TX;889-898 NV;900-961 CA;962-966 AP;967-968 HI;969 GU;970-979 OR;980-994 WA;995-999 AK`

// stateOf reads the ranges.
func stateOf(t *testing.T) map[string]string {
	t.Helper()
	states := map[string]string{}
	for entry := range strings.SplitSeq(strings.ReplaceAll(assigned, "\n", ""), ";") {
		var first, last int
		var state string
		if n, _ := fmt.Sscanf(entry, "%03d-%03d %s", &first, &last, &state); n != 3 {
			if n, _ := fmt.Sscanf(entry, "%03d %s", &first, &state); n != 2 {
				t.Fatalf("range %q cannot be read", entry)
			}
			last = first
		}
		for i := first; i <= last; i++ {
			states[fmt.Sprintf("%03d", i)] = state
		}
	}
	return states
}

// Every prefix from 000 to 999, used or not: the right state, a level, and
// nothing but finite numbers.
func TestEveryPrefix(t *testing.T) {
	t.Parallel()
	states, count, seen := stateOf(t), map[string]int{}, map[string]bool{}
	abroad := []string{"AE", "AA", "AP", "VI", "GU"} // without an index in the tables
	for i := range 1000 {
		zip3 := fmt.Sprintf("%03d", i)
		got := locate(at(zip3+"01", "", ""))
		count[got.Level]++
		finite(t, zip3, reflect.ValueOf(got))
		switch known := catalog.PrefixByZip3(zip3) != nil; {
		case !known:
			if got.Level != locality.LevelNational || got.State != "" || !got.NeedsReview || got.LocationFactor != 1 {
				t.Errorf("unused prefix %s: level %s, state %q, factor %v, review %t; want the national average to be looked at", zip3, got.Level, got.State, got.LocationFactor, got.NeedsReview)
			}
		case got.State != states[zip3]:
			t.Errorf("prefix %s: state %q, want %q", zip3, got.State, states[zip3])
		case slices.Contains(abroad, got.State) != (got.Level == locality.LevelNational), got.Level != locality.LevelNational && got.Level != locality.LevelZip:
			t.Errorf("prefix %s in %s: level %s", zip3, got.State, got.Level)
		default:
			seen[got.State] = true
		}
	}
	for _, s := range catalog.States() {
		if !seen[s.Abbr] {
			t.Errorf("no prefix leads to %s", s.Abbr)
		}
	}
	for _, territory := range append(abroad, "PR") {
		if !seen[territory] {
			t.Errorf("no prefix leads to %s", territory)
		}
	}
	t.Logf("levels of 1000 prefixes: %v", count)
}

// A state that excludes the ZIP is reported, whatever the prefix, and the price
// stays finite whichever of the two is believed.
func TestEveryPrefixWithAnotherState(t *testing.T) {
	t.Parallel()
	neighbours := map[string]string{"063": "NY", "834": "WY", "205": "MD", "569": "VA"} // serve a corner of them
	all := catalog.States()
	for i := range 1000 {
		zip3 := fmt.Sprintf("%03d", i)
		p := catalog.PrefixByZip3(zip3)
		stated := all[i%len(all)].Abbr
		for _, trust := range []locality.Trust{locality.Auto, locality.TrustZip, locality.TrustState} {
			got := locality.Locate(at(zip3+"01", "", stated), "standard", trust)
			finite(t, zip3, reflect.ValueOf(got))
			if p != nil && (stated == p.State || neighbours[zip3] == stated) {
				continue
			}
			if !got.NeedsReview || !strings.Contains(strings.Join(got.Warnings, " "), zip3) {
				t.Errorf("ZIP %s01 with %s: review %t, warnings %q; want the contradiction", zip3, stated, got.NeedsReview, got.Warnings)
			}
			want, level := stated, locality.LevelState
			if p != nil && trust != locality.TrustState {
				want, level = p.State, got.Level
			}
			if got.State != want || got.Level != level {
				t.Errorf("ZIP %s01 with %s, trust %v: %s at level %s, want %s at %s", zip3, stated, trust, got.State, got.Level, want, level)
			}
		}
	}
}

func TestIslandsThatShareAPrefix(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		zip, stated, state, level string
		contradiction             bool
	}{
		{"96801", "HI", "HI", "zip", false},
		{"96799", "AS", "AS", "national", false},
		{"96799", "", "AS", "national", false},
		{"96799", "HI", "AS", "national", true},
		{"96950", "MP", "MP", "national", false},
		{"96913", "GU", "GU", "national", false},
		{"96940", "PW", "PW", "national", false},
		{"96943", "FM", "FM", "national", false},
		{"96970", "MH", "MH", "national", false},
	} {
		got := locate(at(tt.zip, "", tt.stated))
		contradiction := strings.Contains(strings.Join(got.Warnings, " "), "but the address says")
		if got.State != tt.state || got.Level != tt.level || contradiction != tt.contradiction {
			t.Errorf("Locate(%s %s) = %s at level %s, warnings %q; want %s at %s", tt.zip, tt.stated, got.State, got.Level, got.Warnings, tt.state, tt.level)
		}
	}
}

// finite fails for any number within v that is not.
func finite(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch v.Kind() { //nolint:exhaustive // the other kinds hold no float
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
			t.Fatalf("%s: the number %v", name, f)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			finite(t, name, field)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			finite(t, name, v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			finite(t, name, v.MapIndex(k))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			finite(t, name, v.Elem())
		}
	}
}
