package estimate

import "truecost.dev/shared/estimate/money"

// Root holds the members that final writes beside the outputs, at the root of
// the document of an estimate. Reports and dashboards read them under exactly
// these names, the inner ones in snake_case. Percentages are 0–100.
type Root struct {
	ProjectName string  `json:"projectName"`
	Address     string  `json:"address"`
	ProjectType string  `json:"projectType"`
	Scope       string  `json:"scope"`
	Sqft        float64 `json:"squareFootage"`

	TotalCost      money.Cents `json:"totalCost"`
	ClientTotal    money.Cents `json:"clientTotal"` // = TotalCost (R5)
	P50            money.Cents `json:"p50"`
	P80            money.Cents `json:"p80"`
	P90            money.Cents `json:"p90"`
	ContingencyPct float64     `json:"contingencyPct"`
	Weeks          float64     `json:"timelineWeeks"`
	Iterations     int         `json:"monteCarloIterations"`

	Drivers     []RootDriver    `json:"costDrivers"` // divisions, largest first
	Labor       RootLabor       `json:"laborAnalysis"`
	Schedule    RootSchedule    `json:"schedule"`
	Breakdown   RootBreakdown   `json:"cost_breakdown"`
	Risk        RootRisk        `json:"risk_analysis"`
	Bill        RootBill        `json:"bill_of_quantities"`
	Assumptions RootAssumptions `json:"assumptions"`
	CAD         *CAD            `json:"cad_data"`

	CostItems     int    `json:"costItemsCount"`
	CostItemsPath string `json:"costItemsCollectionPath"`
	Notes         string `json:"internalNotes"` // for the contractor alone
}

// RootDriver is a division as a part of the direct cost.
type RootDriver struct {
	Name       string      `json:"name"`
	Cost       money.Cents `json:"cost"`
	Percentage float64     `json:"percentage"`
}

// RootLabor is the labor of the lines: Base + Burden = Total = the labor of the
// cost breakdown.
type RootLabor struct {
	Hours     float64     `json:"total_hours"`
	Base      money.Cents `json:"base_total"`   // bare wages
	Burden    money.Cents `json:"burden_total"` // labor burden; a subcontractor's overhead and profit too
	Total     money.Cents `json:"total"`
	Pct       float64     `json:"labor_pct"` // of the total cost
	Days      float64     `json:"estimated_days"`
	Trades    []RootTrade `json:"trades"` // largest first
	Locations RootUnion   `json:"location_factors"`
}

// RootTrade is the labor of one trade.
type RootTrade struct {
	Name   string      `json:"name"`
	Hours  float64     `json:"hours"`
	Rate   money.Rate  `json:"rate"` // Total / Hours
	Base   money.Cents `json:"base_cost"`
	Burden money.Cents `json:"burden"`
	Total  money.Cents `json:"total"`
}

// RootUnion says that union wages are in the rates: the premium is always 1.
type RootUnion struct {
	Union   bool    `json:"is_union"`
	Premium float64 `json:"union_premium"`
}

// RootSchedule is the schedule as reports print it.
type RootSchedule struct {
	Weeks      float64         `json:"total_weeks"`
	Start      string          `json:"start_date"`
	End        string          `json:"end_date"`
	Tasks      []RootTask      `json:"tasks"`
	Milestones []RootMilestone `json:"milestones"`
	Notes      []string        `json:"notes"`
}

// RootTask is one bar; dependencies are numbers of tasks.
type RootTask struct {
	Number       int     `json:"number"`
	Name         string  `json:"name"`
	Duration     float64 `json:"duration"` // working days
	Start        string  `json:"start"`
	End          string  `json:"end"`
	Milestone    bool    `json:"is_milestone"`
	Dependencies []int   `json:"dependencies"`
}

// RootMilestone is a named day.
type RootMilestone struct {
	Name string `json:"name"`
	Date string `json:"date"`
}

// RootBreakdown divides the total. The amounts add up to Total and the
// percentages, all of Total, to 100.
type RootBreakdown struct {
	Material       money.Cents    `json:"total_material"`
	Labor          money.Cents    `json:"total_labor"`
	Equipment      money.Cents    `json:"total_equipment"`
	Permits        money.Cents    `json:"permits"`
	Overhead       money.Cents    `json:"overhead"`
	Profit         money.Cents    `json:"profit"`
	Tax            money.Cents    `json:"tax"`
	Contingency    money.Cents    `json:"contingency"`
	Total          money.Cents    `json:"total"`
	MaterialPct    float64        `json:"material_pct"`
	LaborPct       float64        `json:"labor_pct"`
	EquipmentPct   float64        `json:"equipment_pct"`
	PermitsPct     float64        `json:"permits_pct"`
	OverheadPct    float64        `json:"overhead_pct"`
	ProfitPct      float64        `json:"profit_pct"`
	TaxPct         float64        `json:"tax_pct"`
	ContingencyPct float64        `json:"contingency_pct"`
	Divisions      []RootDivision `json:"divisions"` // those with lines
}

// RootDivision is a division; Percentage is of the direct cost.
type RootDivision struct {
	Code       string      `json:"code"`
	Name       string      `json:"name"`
	Total      money.Cents `json:"total"`
	Material   money.Cents `json:"material_subtotal"`
	Labor      money.Cents `json:"labor_subtotal"`
	Equipment  money.Cents `json:"equipment_subtotal"`
	Percentage float64     `json:"percentage"`
	Items      []RootItem  `json:"items"`
}

// RootItem is a line; UnitCost × Quantity = material, labor and equipment.
type RootItem struct {
	Description string      `json:"description"`
	Quantity    float64     `json:"quantity"`
	Unit        Unit        `json:"unit"`
	UnitCost    money.Rate  `json:"unit_cost"`
	Material    money.Cents `json:"material_cost"`
	Labor       money.Cents `json:"labor_cost"`
	Equipment   money.Cents `json:"equipment_cost"`
}

// RootRisk repeats the simulation.
type RootRisk struct {
	Iterations    int           `json:"iterations"`
	P50           money.Cents   `json:"p50"`
	P80           money.Cents   `json:"p80"`
	P90           money.Cents   `json:"p90"`
	Mean          money.Cents   `json:"mean"`
	Min           money.Cents   `json:"min"`
	Max           money.Cents   `json:"max"`
	ContingencyP  float64       `json:"contingency_pct"`
	Contingency   money.Cents   `json:"contingency_amount"`
	MaxPercentage float64       `json:"max_percentage"` // of the fullest bin
	Histogram     []Bin         `json:"histogram"`
	TopRisks      []RootTopRisk `json:"top_risks"`
}

// RootTopRisk is one of the largest risks.
type RootTopRisk struct {
	Item        string      `json:"item"`
	Impact      money.Cents `json:"impact"`
	Probability float64     `json:"probability"`
	Sensitivity float64     `json:"sensitivity"`
}

// RootBill is the bill of quantities with what leads from its subtotal to the
// total.
type RootBill struct {
	Items       []RootBillItem `json:"items"`
	Subtotal    money.Cents    `json:"subtotal"`
	Permits     money.Cents    `json:"permits"`
	Overhead    money.Cents    `json:"overhead"`
	Profit      money.Cents    `json:"profit"`
	Tax         money.Cents    `json:"tax"`
	Contingency money.Cents    `json:"contingency"`
	Total       money.Cents    `json:"total"`
	MarkupPct   float64        `json:"markup_pct"` // overhead and profit on the subtotal
}

// RootBillItem is a numbered line.
type RootBillItem struct {
	Number int `json:"line_number"`
	RootItem
	Total    money.Cents `json:"total"`
	Division string      `json:"csi_division"`
}

// RootAssumptions are the conditions of the price.
type RootAssumptions struct {
	Items      []string        `json:"items"`
	Inclusions []string        `json:"inclusions"`
	Exclusions []RootExclusion `json:"exclusions"`
	Notes      []string        `json:"notes"`
}

// RootExclusion groups what is not in the price.
type RootExclusion struct {
	Category string   `json:"category"`
	Items    []string `json:"items"`
}
