package intake

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

func TestContractorSettings(t *testing.T) {
	t.Parallel()
	rate := money.RateFrom
	tests := []struct {
		name     string
		changes  map[string]any
		want     *estimate.Contractor
		warnings []string
	}{
		{"none", nil, nil, nil},
		{
			"of the brief, in numbers and texts",
			map[string]any{"projectBrief.contractorSettings": map[string]any{
				"laborRates": map[string]any{"electrician": 71.5, "tile_setter": "58"}, "materialPrices": map[string]any{"093013.10": 4.25},
			}},
			&estimate.Contractor{
				LaborRates: map[string]money.Rate{"electrician": rate(71.5), "tile_setter": rate(58)},
				Prices:     map[string]money.Rate{"093013.10": rate(4.25)},
			}, nil,
		},
		{
			"of the root, in snake case, trades by their keys",
			map[string]any{"contractor_settings": map[string]any{"labor_rates": map[string]any{"laborer": 40}}},
			&estimate.Contractor{LaborRates: map[string]money.Rate{"general_labor": rate(40)}}, nil,
		},
		{
			"what cannot be used is said and left out",
			map[string]any{"contractorSettings": map[string]any{
				"laborRates":     map[string]any{"astronaut": 90, "plumber": 0.5, "painter": "dear", "carpenter": nil},
				"materialPrices": map[string]any{"000000.00": 1, "093013.10": -1},
			}},
			nil,
			[]string{
				"contractorSettings.laborRates.astronaut", "contractorSettings.laborRates.painter", "contractorSettings.laborRates.plumber",
				"contractorSettings.materialPrices.000000.00", "contractorSettings.materialPrices.093013.10",
			},
		},
	}
	_, base := mustParse(t, fixture(t, "kitchen.json"))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, report := mustParse(t, changed(t, "kitchen.json", tt.changes))
			if diff := cmp.Diff(tt.want, got.Brief.Contractor); diff != "" {
				t.Errorf("contractor (-want +got):\n%s", diff)
			}
			var paths []string
			for _, w := range report.Warnings {
				if w.Code == InvalidPreference {
					paths = append(paths, w.Path)
				}
			}
			if diff := cmp.Diff(tt.warnings, paths); diff != "" {
				t.Errorf("warned paths (-want +got):\n%s", diff)
			}
			if want := len(base.Warnings) + len(tt.warnings); len(report.Warnings) != want {
				t.Errorf("%d warnings, want %d", len(report.Warnings), want)
			}
		})
	}
}
