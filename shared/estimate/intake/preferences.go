package intake

import "truecost.dev/shared/estimate"

// preference is one rate a user may set: its names where fractions are meant,
// and its name in estimateConfiguration, where percent is meant.
type preference struct {
	camel, snake, percent string
	base                  float64 // 0 for a share, 1 for a factor
	usual                 float64 // above this somebody should look
}

var (
	overhead    = preference{"overheadPct", "overhead_pct", "overheadPercent", 0, 0.5}
	profit      = preference{"profitPct", "profit_pct", "profitPercent", 0, 0.5}
	contingency = preference{"contingencyPct", "contingency_pct", "contingencyPercent", 0, 0.5}
	waste       = preference{"wasteFactor", "waste_factor", "materialWasteFactorPercent", 1, 1.5}
)

// preferences returns what the user set, nil when nothing. costPreferences of
// the brief come before those of the root, and either before
// estimateConfiguration.
func (c cursor) preferences() *estimate.Preferences {
	brief := c.at("projectBrief")
	places := []cursor{
		brief.at("costPreferences"), brief.at("cost_preferences"),
		c.at("costPreferences"), c.at("cost_preferences"),
	}
	found, given := false, false
	read := func(p preference) *float64 {
		for _, place := range places {
			if v := place.first(p.camel, p.snake); !v.absent() {
				given = true
				return v.share(p, fractionOrPercent, &found)
			}
		}
		return nil
	}
	for _, place := range places {
		place.object("")
	}
	set := estimate.Preferences{
		Overhead: read(overhead), Profit: read(profit), Contingency: read(contingency), Waste: read(waste),
	}
	if configuration := c.at("estimateConfiguration"); !given && configuration.object("") {
		set = estimate.Preferences{
			Overhead:    configuration.at(overhead.percent).share(overhead, percent, &found),
			Profit:      configuration.at(profit.percent).share(profit, percent, &found),
			Contingency: configuration.at(contingency.percent).share(contingency, percent, &found),
			Waste:       configuration.at(waste.percent).share(waste, percent, &found),
		}
	}
	if !found {
		return nil
	}
	return &set
}

// share reads one preference with the reading as. One that cannot be used is
// left out with a warning, an unusual one is kept with a warning (R13).
func (c cursor) share(p preference, as func(x, base float64) float64, found *bool) *float64 {
	if c.absent() {
		return nil
	}
	x, ok := parse(c.v)
	if !ok || x < 0 || x > 100 {
		c.warn(InvalidPreference, "a fraction from 0 to 1 or a percentage up to 100", "cannot be used; the usual rate holds")
		return nil
	}
	*found = true
	value := as(x, p.base)
	if value > p.usual {
		c.warn(UnusualPreference, "at most "+format(p.usual), "%s is unusually high", format(value))
	}
	return &value
}

// fractionOrPercent takes a number above 1 (above 2 for a factor) as percent.
func fractionOrPercent(x, base float64) float64 {
	switch {
	case base == 0 && x > 1, x > 2:
		return base + x/100
	case base == 1 && x >= 1:
		return x
	default:
		return base + x
	}
}

func percent(x, base float64) float64 { return base + x/100 }
