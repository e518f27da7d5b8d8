package catalog

// tradeNames maps the keys of the trade table to the names outputs use, where
// the two differ.
var tradeNames = map[string]string{
	"laborer": "general_labor", "tile": "tile_setter", "concrete": "concrete_finisher", "drywall": "drywall_installer",
	"cabinet": "cabinet_installer", "countertop": "countertop_installer", "flooring": "flooring_installer",
	"appliance": "appliance_installer",
}

// tradeKeys is the way back, with demolition, which general labor does.
var tradeKeys = func() map[string]string {
	keys := map[string]string{"demolition": "laborer"}
	for key, name := range tradeNames {
		keys[name] = key
	}
	return keys
}()

// TradeName returns the name outputs use for a trade key: general_labor for
// laborer, tile_setter for tile. A key without another name is returned as it
// is.
func TradeName(key string) string {
	if name, ok := tradeNames[key]; ok {
		return name
	}
	return key
}

// TradeByName returns the crew an output names: general_labor, tile_setter,
// electrician; demolition is general labor. A key of Trades works too. It
// returns nil for a trade the catalogue lacks.
func TradeByName(name string) *Trade {
	if key, ok := tradeKeys[name]; ok {
		return TradeByKey(key)
	}
	return TradeByKey(name)
}
