package estimate

import "truecost.dev/shared/estimate/money"

// Contractor is what the contractor who bids charges himself. His figures come
// before those of the tables and are taken as they stand: no index of the place
// and no escalation is applied to them.
type Contractor struct {
	// LaborRates are burdened $/h of one worker by trade name
	// (catalog.TradeName): electrician, general_labor, …
	LaborRates map[string]money.Rate `json:"laborRates,omitempty"`

	// Prices of material before waste and tax, in $ per unit of the catalogue's
	// item, by cost code: 093013.10.
	Prices map[string]money.Rate `json:"materialPrices,omitempty"`
}

// Rate returns the contractor's own rate for the first of trades that he gave
// one for; ok is false when he gave none. A nil contractor has no rates.
func (c *Contractor) Rate(trades ...string) (rate money.Rate, ok bool) {
	if c == nil {
		return 0, false
	}
	for _, trade := range trades {
		if r := c.LaborRates[trade]; r > 0 {
			return r, true
		}
	}
	return 0, false
}

// Price returns the contractor's own price of the material of a cost code; ok
// is false when he gave none. A nil contractor has no prices.
func (c *Contractor) Price(code string) (price money.Rate, ok bool) {
	if c == nil {
		return 0, false
	}
	price, ok = c.Prices[code]
	return price, ok
}

// Own returns what the contractor set; nil when he set nothing.
func (c *Context) Own() *Contractor {
	if c.Clarification == nil {
		return nil
	}
	return c.Clarification.Brief.Contractor
}
