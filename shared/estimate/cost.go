package estimate

import "truecost.dev/shared/estimate/money"

// Cost is the output of the cost agent, local and in dollars of the mid-point
// of construction. Low, medium and high of a Range are P50, P80, P90.
//
// Sales tax is not in the lines but in Adjustments, so materials + labor +
// equipment + locationAdjustment + overhead + profit + permits + tax = total
// (R6). A subcontractor's own overhead and profit is part of the line's
// material and labor, as it is of his price.
type Cost struct {
	EstimateID  string         `json:"estimateId"`
	LineCount   int            `json:"boqLineItemCount"`
	Divisions   []CostDivision `json:"divisions"` // all 24, in order
	Subtotals   CostSubtotals  `json:"subtotals"`
	Adjustments Adjustments    `json:"adjustments"`

	// Total is the base: everything but contingency, unless the user fixed a
	// contingency, which is then reported in Adjustments and added by final.
	// Total.Low is the deterministic base; Medium and High come from combining
	// the lines with correlation, not from adding their percentiles.
	Total Range `json:"total"`

	PriceDate      Date        `json:"priceDate"`
	Midpoint       Date        `json:"escalatedTo"`
	Confidence     float64     `json:"confidence"`
	Summary        CostSummary `json:"summary"`
	ExactItems     int         `json:"itemsWithExactCosts"`
	EstimatedItems int         `json:"itemsWithEstimatedCosts"`
	LineConfidence float64     `json:"averageCostConfidence"`
	Warnings       []string    `json:"warnings"`
	NeedsReview    bool        `json:"needsReview"`
	Revisions      []Revision  `json:"revisions,omitempty"`
}

// CostDivision is one division of the bill of quantities.
type CostDivision struct {
	Code       string     `json:"divisionCode"`
	Name       string     `json:"divisionName"`
	Status     string     `json:"status"`
	Lines      []CostLine `json:"lineItems"`
	Material   Range      `json:"materialSubtotal"`
	LaborHours float64    `json:"laborHoursSubtotal"`
	Labor      Range      `json:"laborSubtotal"`
	Equipment  Range      `json:"equipmentSubtotal"`
	Total      Range      `json:"divisionTotal"`
	ItemCount  int        `json:"itemCount"`
}

// CostLine is a priced line. TotalCost.Low = MaterialCost.Low + LaborCost.Low +
// EquipmentCost.Low, to the cent.
type CostLine struct {
	ID           string    `json:"lineItemId"`
	CostCode     string    `json:"costCode"`
	Description  string    `json:"description"`
	Quantity     float64   `json:"quantity"` // net, in Unit
	Unit         Unit      `json:"unit"`     // the catalogue's unit
	WastePct     float64   `json:"wastePercent"`
	Trade        string    `json:"primaryTrade"`
	UnitMaterial RateRange `json:"unitMaterialCost"` // per unit ordered, before waste and tax
	HoursPerUnit float64   `json:"unitLaborHours"`   // after productivity factors
	LaborRate    RateRange `json:"laborRate"`
	MaterialCost Range     `json:"materialCost"`
	LaborHours   float64   `json:"laborHours"`
	LaborCost    Range     `json:"laborCost"`
	Equipment    Range     `json:"equipmentCost"`
	TotalCost    Range     `json:"totalCost"`
	Subcontract  bool      `json:"subcontracted"`
	Confidence   string    `json:"confidence"` // high, medium, low

	// Uncertainty is what risk simulates: factors on material price, hours per
	// unit and quantity (1 = as estimated), P10, likely and P90.
	Uncertainty LineUncertainty `json:"uncertainty"`
	Provenance  Provenance      `json:"provenance"`
}

// LineUncertainty holds factors round 1.
type LineUncertainty struct {
	Material Triangle `json:"material"`
	Labor    Triangle `json:"labor"`
	Quantity Triangle `json:"quantity"`
}

// CostSubtotals are the sums of the lines.
type CostSubtotals struct {
	Materials  Range   `json:"materials"`
	Labor      Range   `json:"labor"`
	Equipment  Range   `json:"equipment"`
	Subtotal   Range   `json:"subtotal"`
	LaborHours float64 `json:"totalLaborHours"`
}

// Adjustments lead from the lines to the total. Percentages are fractions.
type Adjustments struct {
	LocationFactor       float64     `json:"locationFactor"`     // for display: lines are local already
	LocationAdjustment   Range       `json:"locationAdjustment"` // zero: lines are local already (R11)
	LocalSubtotal        Range       `json:"locationAdjustedSubtotal"`
	OverheadPct          float64     `json:"overheadPercentage"` // company overhead
	Overhead             Range       `json:"overhead"`           // general conditions + design + company overhead
	GeneralConditionsPct float64     `json:"generalConditionsPercentage"`
	GeneralConditions    Range       `json:"generalConditions"` // part of Overhead
	DesignPct            float64     `json:"designPercentage"`
	Design               Range       `json:"design"`          // part of Overhead
	CompanyOverhead      Range       `json:"companyOverhead"` // part of Overhead
	ProfitPct            float64     `json:"profitPercentage"`
	Profit               Range       `json:"profit"`
	ContingencyPct       float64     `json:"contingencyPercentage"` // 0 unless the user fixed one
	Contingency          Range       `json:"contingency"`           // not in Total
	ContingencyFixed     bool        `json:"contingencyFixedByUser"`
	Permits              Range       `json:"permitCosts"`
	PermitClass          string      `json:"permitClass"`
	TaxPct               float64     `json:"taxPercentage"`
	TaxBase              string      `json:"taxBase"`
	Tax                  Range       `json:"tax"`
	Total                Range       `json:"totalAdjustments"`
	Escalation           money.Cents `json:"escalationIncluded"` // part of the lines
	MarkupProfile        string      `json:"markupProfile"`
	UserPreferences      []string    `json:"userPreferencesApplied"`

	// PricePerDirectDollar is how much the total grows when the lines grow by
	// one dollar: markups and tax. Permits are applied for once and stay, so
	// Total.Low = Subtotals.Subtotal.Low × this + Permits.Low.
	PricePerDirectDollar float64 `json:"pricePerDirectDollar"`
}

// CostSummary is prose generated from the figures.
type CostSummary struct {
	Headline      string   `json:"headline"`
	Range         string   `json:"rangeExplanation"`
	Drivers       []string `json:"keyCostDrivers"`
	Opportunities []string `json:"costSavingOpportunities"`
	Assumptions   []string `json:"assumptions"`
	Disclaimers   []string `json:"disclaimers"`
}

// Lines calls yield for every priced line, in order.
func (c *Cost) Lines(yield func(division int, line *CostLine) bool) {
	for d := range c.Divisions {
		for i := range c.Divisions[d].Lines {
			if !yield(d, &c.Divisions[d].Lines[i]) {
				return
			}
		}
	}
}
