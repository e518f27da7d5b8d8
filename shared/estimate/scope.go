package estimate

import "truecost.dev/shared/estimate/money"

// Scope is the output of the scope agent: every line of the csiScope matched to
// the catalogue, its quantity converted and checked. Prices in it are national
// and preliminary; pricing makes the cost.
type Scope struct {
	EstimateID  string         `json:"estimateId"`
	ProjectType string         `json:"projectType"`
	ProjectKey  string         `json:"projectKey"` // catalog.ProjectType.Key: decides profile, permit class, risks
	Finish      string         `json:"finishLevel"`
	Complexity  string         `json:"projectComplexity"`
	Sqft        float64        `json:"totalSqft"`
	Class       int            `json:"estimateClass"` // AACE 5…1
	ClassReason string         `json:"estimateClassReason"`
	Divisions   []ScopeSection `json:"divisions"` // all 24, in order

	TotalItems        int          `json:"totalLineItems"`
	IncludedDivisions int          `json:"totalIncludedDivisions"`
	ExcludedDivisions int          `json:"totalExcludedDivisions"`
	MaterialCost      money.Cents  `json:"preliminaryMaterialCost"`
	LaborHours        float64      `json:"preliminaryLaborHours"`
	EquipmentCost     money.Cents  `json:"preliminaryEquipmentCost"`
	Completeness      Completeness `json:"completeness"`

	Exclusions  []string      `json:"exclusions"` // words of the brief that bind the price (R8)
	Analysis    ScopeAnalysis `json:"analysis"`
	NeedsReview bool          `json:"needsReview"`
	Confidence  float64       `json:"confidence"`
	Summary     string        `json:"summary"`
	Revisions   []Revision    `json:"revisions,omitempty"`
}

// ScopeSection is one division of the scope.
type ScopeSection struct {
	Code          string      `json:"divisionCode"`
	Name          string      `json:"divisionName"`
	Status        string      `json:"status"`
	Description   string      `json:"description"`
	Reason        string      `json:"exclusionReason,omitempty"`
	Items         []ScopeLine `json:"lineItems"`                // of an included division; others keep their items in OwnerItems
	OwnerItems    []string    `json:"notPricedItems,omitempty"` // of an included division with the reason in parentheses
	MaterialCost  money.Cents `json:"subtotalMaterialCost"`
	LaborHours    float64     `json:"subtotalLaborHours"`
	EquipmentCost money.Cents `json:"subtotalEquipmentCost"`
	ItemCount     int         `json:"itemCount"`
	Confidence    float64     `json:"averageConfidence"`
}

// ScopeLine is one line of work. Quantity and Unit are as stated; TakeoffQty
// and TakeoffUnit are the same in the unit of the catalogue item, net of waste.
type ScopeLine struct {
	ID             string  `json:"id"`
	Item           string  `json:"item"`
	Quantity       float64 `json:"quantity"`
	Unit           Unit    `json:"unit"`
	TakeoffQty     float64 `json:"takeoffQuantity"`
	TakeoffUnit    Unit    `json:"takeoffUnit"`
	QuantitySource string  `json:"quantitySource"` // measured, stated, formula, allowance

	CostCode       string  `json:"costCode"` // catalogue code, or GEN-{div}-001 for a division default
	CodeName       string  `json:"costCodeDescription"`
	CodeConfidence float64 `json:"costCodeConfidence"`
	CodeSource     string  `json:"costCodeSource"` // subdivision, words, default
	Searchable     string  `json:"searchableName"`
	Trade          string  `json:"primaryTrade"`

	MaterialPerUnit money.Rate  `json:"materialCostPerUnit"` // per TakeoffUnit, national, at the finish level
	HoursPerUnit    float64     `json:"laborHoursPerUnit"`   // worker-hours per TakeoffUnit
	WastePct        float64     `json:"wastePercent"`
	Validation      string      `json:"quantityValidation"` // validated, estimated, needs_verification, discrepancy
	ValidationNote  string      `json:"quantityValidationNote,omitempty"`
	MaterialCost    money.Cents `json:"estimatedMaterialCost"`
	LaborHours      float64     `json:"estimatedLaborHours"`
	EquipmentCost   money.Cents `json:"estimatedEquipmentCost"`
	Confidence      float64     `json:"confidence"` // of the quantity and the match together, 0–1
	Source          string      `json:"source"`     // as in the input
	Description     string      `json:"detailedDescription"`
}

// Completeness says what is missing.
type Completeness struct {
	AllCoded           bool     `json:"allItemsHaveCostCodes"`
	AllQuantified      bool     `json:"allItemsHaveQuantities"`
	AllDivisions       bool     `json:"allRequiredDivisionsPresent"`
	AllValidated       bool     `json:"quantityValidationComplete"`
	CodeCoverage       float64  `json:"costCodeCoverage"`           // 0–1, division defaults do not count
	ValidationCoverage float64  `json:"quantityValidationCoverage"` // 0–1
	Warnings           []string `json:"warnings"`
	Missing            []string `json:"missingItems"`
	SuggestedAdditions []string `json:"suggestedAdditions"`
}

// ScopeAnalysis is prose generated from the figures.
type ScopeAnalysis struct {
	Summary         string   `json:"summary"`
	Observations    []string `json:"keyObservations"`
	Materials       []string `json:"materialHighlights"`
	Complexity      []string `json:"complexityFactors"`
	Finish          string   `json:"finishLevelAssessment"`
	Recommendations []string `json:"recommendations"`
}
