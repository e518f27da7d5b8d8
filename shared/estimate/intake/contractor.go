package intake

import (
	"maps"
	"slices"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

// Bounds of the figures a contractor may set: $/h of one worker with burden, and
// $ per unit of material. What lies outside is a slip of the pen.
const (
	leastOwnRate = 10.0
	mostOwnRate  = 500.0
	mostOwnPrice = 1e6
)

// contractor returns the rates and prices that the contractor set, those of the
// brief before those of the root; nil when none can be used.
func (c cursor) contractor() *estimate.Contractor {
	brief := c.at("projectBrief")
	settings := brief.first("contractorSettings", "contractor_settings")
	if settings.absent() {
		settings = c.first("contractorSettings", "contractor_settings")
	}
	if !settings.object("") {
		return nil
	}
	own := estimate.Contractor{
		LaborRates: settings.first("laborRates", "labor_rates").own("a trade", leastOwnRate, mostOwnRate, trade),
		Prices:     settings.first("materialPrices", "material_prices", "materials").own("a cost code of the catalogue", 0, mostOwnPrice, code),
	}
	if own.LaborRates == nil && own.Prices == nil {
		return nil
	}
	return &own
}

// trade returns the name outputs use for a trade; empty for an unknown one.
func trade(name string) string {
	if t := catalog.TradeByName(name); t != nil && t.Rate > 0 {
		return catalog.TradeName(t.Key)
	}
	return ""
}

// code returns a cost code of the catalogue; empty for an unknown one.
func code(name string) string {
	if catalog.ItemByCode(name) == nil {
		return ""
	}
	return name
}

// own reads figures by name. One that cannot be used is left out with a warning;
// nil is returned when none is left. Of two spellings of a name the later in the
// alphabet holds.
func (c cursor) own(what string, least, most float64, canonical func(string) string) map[string]money.Rate {
	if !c.object("") {
		return nil
	}
	var figures map[string]money.Rate
	given, _ := c.v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		figure := c.at(name)
		if figure.absent() {
			continue
		}
		x, ok := parse(figure.v)
		known := canonical(name)
		switch {
		case known == "":
			figure.warn(InvalidPreference, what, "%q is unknown; the figure is not used", name)
		case !ok || x < least || x > most:
			figure.warn(InvalidPreference, limit{least, most, ""}.String(), "cannot be used; the usual figure holds")
		default:
			if figures == nil {
				figures = map[string]money.Rate{}
			}
			figures[known] = money.RateFrom(x)
		}
	}
	return figures
}
