package locality

import (
	"fmt"
	"math"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// The levels of the ladder.
const (
	LevelZip      = "zip"
	LevelMetro    = "metro"
	LevelState    = "state"
	LevelNational = "national"
)

// Shares of labor and material in the composite factor (estimating practice §6).
const (
	laborShare    = 0.60
	materialShare = 0.40
)

// Trust says which part of a contradictory address to believe.
type Trust int

// The choices. Auto lets the ZIP win unless the city sides with the state.
const (
	Auto Trust = iota
	TrustZip
	TrustState
)

// Locate returns what the place of addr means for the price of work that needs
// a permit of permitClass (catalog.PermitFee.Class; an unknown one is taken as
// standard and said so). It never fails: see the package comment for what
// happens when the place is unknown.
func Locate(addr estimate.Address, permitClass string, trust Trust) estimate.Location {
	return LocateFor(nil, addr, permitClass, trust)
}

// LocateFor is Locate for a contractor: the rates that he set himself come before
// those of the tables. nil is a contractor who set none.
func LocateFor(own *estimate.Contractor, addr estimate.Address, permitClass string, trust Trust) estimate.Location {
	p := find(addr, trust)
	loc := estimate.Location{
		Zip: addr.Zip, City: addr.City, State: p.abbr, County: addr.County, Region: region(p.state),
		LaborIndex: round3(p.labor), MaterialIndex: round3(p.material), LocationFactor: round3(p.composite),
		Level: p.level, PriceYear: catalog.PriceYear, Confidence: p.confidence,
		Warnings:   append([]string{}, p.warnings...),
		DataSource: fmt.Sprintf("embedded catalogue %s", catalog.Version),
	}
	if loc.City == "" && p.prefix != nil {
		loc.City = p.prefix.City
	}
	loc.LaborRates = rates(loc.LaborIndex)
	sources, findings := ownRates(loc.LaborRates, own)
	if odd := oddTrades(p); len(odd) > 0 {
		loc.Warnings = append(loc.Warnings, oddWords(odd, p.state.Name))
		loc.Confidence -= 0.01 * float64(min(len(odd), 5))
	}
	loc.Union, loc.UnionStatus, loc.UnionShare = union(p.state)
	loc.Tax = estimate.SalesTax{Fraction: round5(p.state.SalesTaxPct / 100), Base: p.state.SalesTaxBase}
	loc.Materials = materials(loc.MaterialIndex, p.state.Abbr)
	loc.Weather = weather(p.state)
	var unknown bool
	loc.Permits, unknown = permits(permitClass, p.state)
	if unknown {
		loc.Warnings = append(loc.Warnings, fmt.Sprintf("Permit class %q is not in the fee table; the standard class is used.", permitClass))
	}
	loc.NeedsReview = p.review
	loc.Confidence = math.Round(math.Max(0.3, loc.Confidence)*100) / 100
	loc.Provenance = provenance(p, sources)
	describe(&loc, p)
	loc.KeyFindings = append(loc.KeyFindings, findings...)
	return loc
}

// materials explains the material index: freight where goods come by sea, and
// what is left of the index as local availability. Lumber and concrete have no
// index of their own in the catalogue and follow the general one.
func materials(index float64, state string) estimate.MaterialAdjustments {
	m := estimate.MaterialAdjustments{Transportation: 1, Availability: index, Lumber: index, Concrete: index}
	if state == "AK" || state == "HI" {
		m.Transportation, m.Availability = index, 1
	}
	return m
}

// union grades the share of construction workers who are members: half of the
// trades' work goes by the union scale from about a fifth, and it hardly shows
// below a tenth.
func union(s *catalog.State) (bool, string, float64) {
	switch {
	case s.UnionSharePct >= 20:
		return true, "union", s.UnionSharePct
	case s.UnionSharePct >= 10:
		return false, "mixed", s.UnionSharePct
	default:
		return false, "non_union", s.UnionSharePct
	}
}

// region names the part of the country in the published vocabulary.
func region(s *catalog.State) string {
	switch s.Abbr {
	case "":
		return "National"
	case "AZ", "NM", "NV":
		return "Southwest"
	}
	switch s.Division {
	case "New England", "Middle Atlantic":
		return "Northeast"
	case "South Atlantic", "East South Central":
		return "Southeast"
	case "East North Central", "West North Central":
		return "Midwest"
	case "West South Central":
		return "South"
	case "Mountain":
		return "Mountain"
	default:
		return "Pacific"
	}
}

func round3(x float64) float64 { return math.Round(x*1000) / 1000 }
func round5(x float64) float64 { return math.Round(x*100000) / 100000 }
