package report_test

import (
	"testing"

	"truecost.dev/shared/report"
)

// Whatever is stored, a report of it can be printed and exported.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `{"clientTotal":-5,"cost_breakdown":{"permits":3,"divisions":[{"code":"06","total":2},{"code":"","name":"x","total":-1}]}}`,
		`{"totalCost":1e12,"cost_breakdown":{"permits":1e12,"divisions":[{"code":"06","total":1e12},{"code":"07","total":0.01}]}}`,
		`{"p80":7,"bill_of_quantities":{"items":[{"line_number":1,"description":"a","quantity":-1e300,"unit":"?","unit_cost":1e11}]},"laborAnalysis":{"trades":[{"name":""}]}}`,
		`{"timelineOutput":{"startDate":"0001-01-01","tasks":[{"name":"a","start":"0001-01-01","end":"9999-12-31","isCritical":true},{"name":"b","start":"2026-05-04","end":"2026-05-01"}]}}`,
		`{"riskOutput":{"monteCarlo":{"histogram":[{"range_low":5,"range_high":1,"count":-3},{"range_low":-9,"range_high":90}],"tornado":[{"name":"x","low":9,"high":-9}]},"allRisks":[{"item":"y"}]}}`,
		`{"costOutput":{"divisions":[{"divisionCode":"06","lineItems":[{"lineItemId":"1","quantity":2,"totalCost":{"low":5,"medium":6,"high":7}}]}]},"finalOutput":{"executiveSummary":{"totalCost":9}}}`,
		`{"schedule":{"total_weeks":null,"tasks":[{"number":[1],"name":{"a":1}}]},"cad_data":{"spaceModel":{"rooms":[{"name":"r"}]}},"assumptions":{"exclusions":[{"category":"c","items":["i"]}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := report.Read(raw)
		if err != nil {
			return
		}
		pdf(t, d, report.Options{Client: len(raw)%2 == 0})
		if _, err := report.JSON(d); err != nil {
			t.Errorf("JSON: %v", err)
		}
		if _, err := report.LinesCSV(d); err != nil {
			t.Errorf("LinesCSV: %v", err)
		}
	})
}
