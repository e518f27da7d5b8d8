package estimate

import "truecost.dev/shared/estimate/money"

// Location is the output of the location agent: what the place of the work
// means for its price. LocationFactor is the composite index, 1.00 = national
// average; lines are priced with the labor and material indexes apart.
type Location struct {
	Zip    string `json:"zipCode"`
	City   string `json:"city"`
	State  string `json:"state"`
	County string `json:"county,omitempty"`
	Region string `json:"region"` // Northeast, Southeast, Midwest, South, Southwest, Mountain, Pacific, National

	// LaborRates are burdened $/h of one worker, local, by trade name
	// (catalog.TradeName): electrician, general_labor, tile_setter, …
	LaborRates     map[string]money.Rate `json:"laborRates"`
	LaborIndex     float64               `json:"laborIndex"`
	MaterialIndex  float64               `json:"materialIndex"`
	LocationFactor float64               `json:"locationFactor"`

	Union       bool    `json:"isUnion"` // information only: the wage index already contains it
	UnionStatus string  `json:"unionStatus"`
	UnionShare  float64 `json:"unionSharePercent"`

	Tax         SalesTax            `json:"salesTax"`
	Permits     PermitCosts         `json:"permitCosts"`
	Weather     Weather             `json:"weatherFactors"`
	Materials   MaterialAdjustments `json:"materialAdjustments"`
	Level       string              `json:"fallbackLevel"` // zip, metro, state, national: where the indexes come from
	PriceYear   int                 `json:"priceYear"`
	NeedsReview bool                `json:"needsReview"`
	Warnings    []string            `json:"warnings"`

	DataSource      string       `json:"dataSource"`
	Provenance      []Provenance `json:"provenance"`
	Confidence      float64      `json:"confidence"`
	Summary         string       `json:"summary"`
	Analysis        string       `json:"analysis"`
	KeyFindings     []string     `json:"keyFindings"`
	Recommendations []string     `json:"recommendations"`
	RiskFactors     []string     `json:"riskFactors"`
	Revisions       []Revision   `json:"revisions,omitempty"`
}

// SalesTax of the state. Base is materials, contract, contract65,
// materials_plus_… or none (catalog.State.SalesTaxBase).
type SalesTax struct {
	Fraction float64 `json:"rate"` // 0.08 for 8 percent
	Base     string  `json:"base"`
}

// PermitCosts are the usual fees of the place, before the class of the work is
// known to pricing. Percentage is a fraction of the contract.
type PermitCosts struct {
	Base       money.Cents `json:"buildingPermitBase"`
	Percentage float64     `json:"buildingPermitPercentage"`
	Electrical money.Cents `json:"electricalPermit"`
	Plumbing   money.Cents `json:"plumbingPermit"`
	Mechanical money.Cents `json:"mechanicalPermit"`
	PlanReview money.Cents `json:"planReviewFee"`
	Impact     money.Cents `json:"impactFees"`
	Inspection money.Cents `json:"inspectionFees"`
	Class      string      `json:"permitClass"` // catalog.PermitFee.Class
}

// Weather of the place. LostDays are the expected lost exterior working days of
// each month, January first.
type Weather struct {
	WinterImpact string      `json:"winterImpact"` // none, minimal, moderate, severe
	Seasonal     float64     `json:"seasonalAdjustment"`
	Reason       string      `json:"seasonalReason"`
	FrostDepth   float64     `json:"frostLineDepthInches"`
	LostDays     [12]float64 `json:"lostDaysByMonth"`
}

// MaterialAdjustments are factors on material prices. Pricing uses
// MaterialIndex alone; these explain it.
type MaterialAdjustments struct {
	Transportation float64 `json:"transportationFactor"`
	Availability   float64 `json:"localAvailabilityFactor"`
	Lumber         float64 `json:"lumberRegionalAdjustment"`
	Concrete       float64 `json:"concreteRegionalAdjustment"`
}

// Provenance says where a figure comes from and how far to trust it.
type Provenance struct {
	What   string `json:"what"`
	Source string `json:"source"`
	Date   string `json:"date"`
	Level  string `json:"level,omitempty"`
}

// Revision is what an agent did about one finding of its critic, or why it did
// nothing.
type Revision struct {
	Path   string `json:"path"`
	Action string `json:"action"`
}
