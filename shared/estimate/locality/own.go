package locality

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// LevelContractor is the level of figures that the contractor set himself.
const LevelContractor = "contractor"

// ownRates puts the contractor's own rates in place of those of the tables and
// returns the notes to make once the rest is written: each with its source. A
// rate of a trade that the tables lack is passed over.
func ownRates(local map[string]money.Rate, c *estimate.Contractor) (sources []estimate.Provenance, findings []string) {
	if c == nil {
		return nil, nil
	}
	for _, trade := range slices.Sorted(maps.Keys(c.LaborRates)) {
		rate, ok := c.Rate(trade)
		table, known := local[trade]
		if !ok || !known {
			continue
		}
		local[trade] = rate
		sources = append(sources, estimate.Provenance{
			What: "laborRates." + trade, Source: "the contractor's own rate", Date: "given with the order", Level: LevelContractor,
		})
		findings = append(findings, fmt.Sprintf("The contractor's own rate for %s, $%.2f an hour, is used; the tables have $%.2f.",
			strings.ReplaceAll(trade, "_", " "), rate.Float(), table.Float()))
	}
	return sources, findings
}
