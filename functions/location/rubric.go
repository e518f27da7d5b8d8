package location

import (
	"fmt"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
)

type (
	criterion = agent.Criterion[estimate.Context, estimate.Location]
	output    = estimate.Location
)

// rubric judges a location. Checks read the catalogue themselves rather than
// ask the code that made the output. What makes every price wrong is a gate:
// absent or wrong rates, a wrong state, a factor from another base.
func rubric() agent.Rubric[estimate.Context, estimate.Location] {
	return agent.Rubric[estimate.Context, estimate.Location]{
		criterion{Name: "labor_rates_completeness", Weight: 14, Check: ratesComplete},
		criterion{Name: "labor_rates_local", Weight: 14, Check: ratesLocal},
		criterion{Name: "labor_rates_order", Weight: 8, Check: ratesOrdered},
		criterion{Name: "location_data_accuracy", Weight: 14, Check: placeRight},
		criterion{Name: "location_factor_validity", Weight: 14, Check: factorRight},
		criterion{Name: "sales_tax", Weight: 8, Check: taxRight},
		criterion{Name: "permit_costs_completeness", Weight: 8, Check: permitsRight},
		criterion{Name: "weather_factors_presence", Weight: 6, Check: weatherRight},
		criterion{Name: "provenance", Weight: 5, Check: sourced},
		criterion{Name: "analysis_quality", Weight: 4, Check: analysed},
		criterion{Name: "data_confidence", Weight: 3, Check: confident},
		criterion{Name: "union_information", Weight: 2, Check: unionRight},
	}
}

// wrong is a finding about a figure that the primary can compute again.
func wrong(path, issue, why string, observed, expected any) agent.Finding {
	return agent.Finding{
		Path: path, Observed: fmt.Sprint(observed), Expected: fmt.Sprint(expected), Issue: issue, Why: why,
		HowToFix: "Compute " + path + " from the tables of the catalogue again.", Fix: agent.Recompute,
	}
}

// elsewhere is a finding that needs another row of the catalogue.
func elsewhere(path, issue, why string, observed, expected any) agent.Finding {
	f := wrong(path, issue, why, observed, expected)
	f.HowToFix, f.Fix = "Look the place up again, by the other half of the address.", agent.Relookup
	return f
}

// within reports whether x lies in [low, high]; NaN does not.
func within(x, low, high float64) bool { return x >= low && x <= high }
