package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// exported is the estimate for another program: the contractor's figures.
type exported struct {
	EstimateID  string                  `json:"estimateId"`
	ProjectName string                  `json:"projectName"`
	Address     string                  `json:"address"`
	Total       *money.Cents            `json:"totalCost"` // the one total
	P50         *money.Cents            `json:"p50"`
	P80         *money.Cents            `json:"p80"`
	P90         *money.Cents            `json:"p90"`
	Weeks       *float64                `json:"timelineWeeks"`
	Breakdown   *estimate.CostBreakdown `json:"costBreakdown"`
	Divisions   []exportedDivision      `json:"divisions"`
	Lines       []estimate.RootBillItem `json:"lines"`
	Assumptions []string                `json:"assumptions"`
	Exclusions  []string                `json:"exclusions"`
}

type exportedDivision struct {
	Code       string      `json:"code"`
	Name       string      `json:"name"`
	Material   money.Cents `json:"material"`
	Labor      money.Cents `json:"labor"`
	Equipment  money.Cents `json:"equipment"`
	Total      money.Cents `json:"total"`
	Percentage float64     `json:"percentage"` // of the direct cost, 0–100
}

// JSON returns the estimate's totals, divisions and lines as one JSON document.
// What the estimate does not have is null or an empty list.
func JSON(d *Document) ([]byte, error) {
	out := exported{
		EstimateID: d.ID, ProjectName: d.ProjectName, Address: d.Address, Total: d.Total(), P50: d.P50, P80: d.P80, P90: d.P90,
		Weeks: d.Weeks, Divisions: d.divisions(), Lines: []estimate.RootBillItem{}, Assumptions: []string{}, Exclusions: []string{},
	}
	if d.Bill != nil {
		out.Lines = append(out.Lines, d.Bill.Items...)
	}
	if d.Final != nil {
		out.Breakdown = &d.Final.Breakdown
		out.Assumptions = append(out.Assumptions, d.Final.Assumptions...)
		out.Exclusions = append(out.Exclusions, d.Final.Exclusions...)
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the export: %w", err)
	}
	return append(b, '\n'), nil
}

func (d *Document) divisions() []exportedDivision {
	list := []exportedDivision{}
	if d.Breakdown == nil {
		return list
	}
	for _, v := range d.Breakdown.Divisions {
		list = append(list, exportedDivision{v.Code, v.Name, v.Material, v.Labor, v.Equipment, v.Total, v.Percentage})
	}
	return list
}

// LinesCSV returns the bill of quantities, a row a line, with a head.
func LinesCSV(d *Document) ([]byte, error) {
	rows := [][]string{{"line_number", "csi_division", "description", "quantity", "unit", "unit_cost", "material_cost", "labor_cost", "equipment_cost", "total"}}
	if d.Bill != nil {
		for i := range d.Bill.Items {
			v := &d.Bill.Items[i]
			rows = append(rows, []string{
				strconv.Itoa(v.Number), inert(v.Division), inert(v.Description), strconv.FormatFloat(v.Quantity, 'f', -1, 64), inert(string(v.Unit)),
				plain(v.UnitCost), plain(v.Material), plain(v.Labor), plain(v.Equipment), plain(v.Total),
			})
		}
	}
	return table(rows)
}

// DivisionsCSV returns the divisions that have lines, with a head.
func DivisionsCSV(d *Document) ([]byte, error) {
	rows := [][]string{{"code", "name", "material", "labor", "equipment", "total", "percentage"}}
	for _, v := range d.divisions() {
		rows = append(rows, []string{
			inert(v.Code), inert(v.Name), plain(v.Material), plain(v.Labor), plain(v.Equipment), plain(v.Total), strconv.FormatFloat(v.Percentage, 'f', -1, 64),
		})
	}
	return table(rows)
}

func table(rows [][]string) ([]byte, error) {
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(rows); err != nil {
		return nil, fmt.Errorf("write the table: %w", err)
	}
	return out.Bytes(), nil
}

// plain is an amount as JSON writes it: dollars, without sign or groups.
func plain(v json.Marshaler) string {
	b, err := v.MarshalJSON()
	if err != nil {
		return ""
	}
	return string(b)
}

// inert keeps a spreadsheet from taking a text for a formula.
func inert(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
