package pricing

import (
	"strings"

	"truecost.dev/shared/estimate"
)

// taxes of a place: what is added to materials, and what to the contract price.
type taxes struct{ material, contract float64 }

// Contract taxes that some states raise beside the sales tax on materials:
// South Dakota's excise on every contract, Mississippi's on commercial ones
// above its threshold.
const (
	southDakotaExcise        = 0.02
	mississippiContract      = 0.035
	mississippiContractAbove = 10_000
)

// arizonaShare is the part of a prime contract that Arizona taxes.
const arizonaShare = 0.65

// taxesOf reads the base of the sales tax. Tax is due on materials or on the
// contract, never on both, except where a state raises a second tax by law. A
// base that is not known is taken as materials, the rule in most states.
func taxesOf(t estimate.SalesTax, commercial bool) taxes {
	rate := max(0, t.Fraction)
	switch {
	case t.Base == "none":
		return taxes{}
	case t.Base == "contract":
		return taxes{contract: rate}
	case t.Base == "contract65":
		return taxes{contract: arizonaShare * rate}
	case t.Base == "materials_plus_excise":
		return taxes{material: rate, contract: southDakotaExcise}
	case t.Base == "materials_plus_contract_tax" && commercial:
		return taxes{material: rate, contract: mississippiContract}
	}
	return taxes{material: rate}
}

// due returns the tax on a contract price.
func (t taxes) due(price float64, base string) float64 {
	if strings.HasPrefix(base, "materials_plus_contract") && price <= mississippiContractAbove {
		return 0
	}
	return t.contract * price
}
