package locality

import (
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// place is an address resolved down the ladder.
type place struct {
	abbr   string         // of the state, territory or military area; empty when unknown
	state  *catalog.State // never nil: the national figures stand in
	prefix *catalog.Prefix
	metro  *catalog.Metro

	labor, material, composite float64

	level      string
	confidence float64 // 0–1
	review     bool
	warnings   []string
}

// Confidence in the indexes, by how they were found: about the error that the
// sources of the tables admit, ±5 percent for a listed metro area.
const (
	sureListed   = 0.90
	sureNearest  = 0.86
	sureRural    = 0.82
	sureMetro    = 0.75
	sureState    = 0.65
	sureNational = 0.40
	mismatchCost = 0.15
)

// crossing prefixes serve a corner of a neighbouring state: a ZIP of theirs with
// that state is no contradiction.
var crossing = map[string]string{"063": "NY", "834": "WY", "205": "MD", "569": "VA"}

func find(addr estimate.Address, trust Trust) place {
	stated := strings.ToUpper(strings.TrimSpace(addr.State))
	prefix := PrefixOf(addr.Zip)
	p := place{abbr: stated}
	switch {
	case prefix == nil:
		p.warn("ZIP %q is in no prefix the catalogue knows.", addr.Zip)
		p.byName(addr.City)
	case stated == "" || stated == prefix.State || crossing[prefix.Zip3] == stated:
		p.prefix = prefix
		if stated == "" {
			p.abbr = prefix.State
		}
		p.byPrefix()
	default:
		p.contradiction(addr, prefix, trust)
	}
	if p.state.Abbr == "" && p.abbr != "" {
		p.warn("%s has no row of its own in the tables: tax, permits and weather are national figures.", p.abbr)
	}
	return p
}

// contradiction settles a ZIP and a state that exclude each other.
func (p *place) contradiction(addr estimate.Address, prefix *catalog.Prefix, trust Trust) {
	inState := metroOf(addr.City, p.abbr)
	fromZip := catalog.MetroByKey(prefix.MetroKey)
	cityWithState := inState != nil && (fromZip == nil || !names(fromZip, addr.City)) && !strings.EqualFold(prefix.City, addr.City)
	stateWins := trust == TrustState || trust == Auto && cityWithState
	if stateWins && (catalog.StateByAbbr(p.abbr) != nil || inState != nil) {
		p.warn("ZIP %s lies in %s, but the address says %s, %s: city and state agree, so the state is used. Confirm the ZIP.",
			addr.Zip, prefix.State, addr.City, p.abbr)
		p.byName(addr.City)
	} else {
		p.warn("ZIP %s lies in %s (%s), but the address says %s: the ZIP is used, because it fixes the place more closely. Confirm the address.",
			addr.Zip, prefix.State, prefix.City, p.abbr)
		p.abbr, p.prefix = prefix.State, prefix
		p.byPrefix()
	}
	p.confidence -= mismatchCost
}

// byPrefix takes the indexes of a known ZIP prefix.
func (p *place) byPrefix() {
	p.state = stateOrNational(p.abbr)
	home := stateOrNational(p.prefix.State)
	p.metro = catalog.MetroByKey(p.prefix.MetroKey)
	p.level = LevelZip
	switch {
	case p.prefix.Method == "listed" && p.metro != nil:
		p.set(p.metro.LaborIndex, p.metro.MaterialIndex, sureListed)
		if p.metro.Confidence == "low" {
			p.confidence = sureState
			p.warn("The index of %s is a judgement, not a survey.", p.metro.Name)
		}
	case p.metro != nil:
		p.set((p.metro.LaborIndex+home.LaborIndex)/2, (p.metro.MaterialIndex+home.MaterialIndex)/2, sureNearest)
	case p.prefix.LocationIndex != nil:
		rural := *p.prefix.LocationIndex / home.LocationIndex
		p.set(home.LaborIndex*rural, home.MaterialIndex*rural, sureRural)
	default: // military and overseas: the table has no index
		p.national()
		return
	}
	if p.prefix.LocationIndex != nil {
		p.composite = *p.prefix.LocationIndex
	}
}

// byName takes the indexes of the metro area that city names in the state, else
// of the state, else of the nation.
func (p *place) byName(city string) {
	p.state = stateOrNational(p.abbr)
	if m := metroOf(city, p.abbr); m != nil {
		p.metro, p.level = m, LevelMetro
		p.set(m.LaborIndex, m.MaterialIndex, sureMetro)
		p.composite = m.LocationIndex
		p.warn("The place is taken by its name, as the metro area of %s.", m.Name)
		return
	}
	if p.state.Abbr == "" {
		p.national()
		return
	}
	p.level = LevelState
	p.set(p.state.LaborIndex, p.state.MaterialIndex, sureState)
	p.warn("The average of %s is used.", p.state.Name)
}

func (p *place) national() {
	p.level, p.metro = LevelNational, nil
	p.set(1, 1, sureNational)
	p.warn("No index is known for this place: the national average, 1.00, is used.")
}

func (p *place) set(labor, material, confidence float64) {
	p.labor, p.material, p.confidence = labor, material, confidence
	p.composite = laborShare*labor + materialShare*material
}

// warn records what is doubtful about the place: a person must look.
func (p *place) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
	p.review = true
}

// metroOf returns the metro area of a state that city names.
func metroOf(city, state string) *catalog.Metro {
	for i, m := range catalog.Metros() {
		if m.State == state && names(&m, city) {
			return &catalog.Metros()[i]
		}
	}
	return nil
}

// names reports whether city is one of the cities in the name of a metro area,
// "Minneapolis-St. Paul" or "Raleigh/Durham".
func names(m *catalog.Metro, city string) bool {
	city = strings.ToLower(strings.TrimSpace(city))
	if city == "" {
		return false
	}
	parts := strings.FieldsFunc(strings.ToLower(m.Name), func(r rune) bool { return r == '-' || r == '/' || r == ',' || r == '(' || r == ')' })
	return city == strings.ToLower(m.Name) || slices.ContainsFunc(parts, func(s string) bool { return strings.TrimSpace(s) == city })
}
