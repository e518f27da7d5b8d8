package estimate

import (
	"time"

	"truecost.dev/shared/estimate/money"
)

// Final is the output of the final agent: one total, and everything that a
// reader needs to believe it. Percentages named …Percent are 0–100.
type Final struct {
	EstimateID      string           `json:"estimateId"`
	GeneratedAt     time.Time        `json:"generatedAt"`
	Version         string           `json:"version"`
	Executive       ExecutiveSummary `json:"executiveSummary"`
	Breakdown       CostBreakdown    `json:"costBreakdown"`
	Timeline        FinalTimeline    `json:"timeline"`
	Risk            RiskSummary      `json:"riskSummary"`
	Recommendations []Recommendation `json:"recommendations"` // at most six
	Assumptions     []string         `json:"assumptions"`
	Exclusions      []string         `json:"exclusions"`
	Allowances      []string         `json:"allowances"`
	Disclaimers     []string         `json:"disclaimers"`
	Sources         []Provenance     `json:"sources"`
	DataQuality     DataQuality      `json:"dataQuality"`
	NeedsReview     bool             `json:"needsReview"`
	ReviewReasons   []string         `json:"reviewReasons"`
	Summary         string           `json:"summary"`
	Complete        bool             `json:"estimateComplete"`
	CostItems       GranularItems    `json:"granularCostItems"`
	Confidence      float64          `json:"confidence"`
	Revisions       []Revision       `json:"revisions,omitempty"`
}

// ExecutiveSummary is the first page. TotalCost = BaseCost + Contingency = the
// one total of the estimate (R5).
type ExecutiveSummary struct {
	ProjectType    string      `json:"projectType"`
	Location       string      `json:"location"`
	Sqft           float64     `json:"sizeSqft"`
	Finish         string      `json:"finishLevel"`
	TotalCost      money.Cents `json:"totalCost"`
	BaseCost       money.Cents `json:"baseCost"`
	Contingency    money.Cents `json:"contingency"`
	ContingencyPct float64     `json:"contingencyPercent"`
	CostPerSqft    money.Cents `json:"costPerSqft"` // of TotalCost; 0 when the area is unknown
	Range          Percentiles `json:"confidenceRange"`
	Duration       string      `json:"duration"`
	Weeks          float64     `json:"durationWeeks"`
	Start          Date        `json:"startDate"`
	End            Date        `json:"endDate"`
	Confidence     string      `json:"confidence"` // high, medium, low
	Complexity     string      `json:"complexity"`
	Class          int         `json:"estimateClass"`
	ClassReason    string      `json:"estimateClassReason"`
	ValidDays      int         `json:"validityDays"`
}

// CostBreakdown sums: Materials + Labor + Equipment = Direct; Direct +
// LocationAdjustment + Overhead + Profit + Permits + Taxes = BeforeContingency;
// + Contingency = Total.
type CostBreakdown struct {
	Materials          money.Cents `json:"materials"`
	Labor              money.Cents `json:"labor"`
	Equipment          money.Cents `json:"equipment"`
	Direct             money.Cents `json:"directCostsSubtotal"`
	LocationAdjustment money.Cents `json:"locationAdjustment"`
	Overhead           money.Cents `json:"overhead"`
	Profit             money.Cents `json:"profit"`
	Permits            money.Cents `json:"permits"`
	Taxes              money.Cents `json:"taxes"`
	BeforeContingency  money.Cents `json:"totalBeforeContingency"`
	Contingency        money.Cents `json:"contingency"`
	ContingencyPct     float64     `json:"contingencyPercentage"`
	ContingencyFixed   bool        `json:"contingencyFixedByUser"`
	Total              money.Cents `json:"totalWithContingency"`
}

// FinalTimeline repeats the schedule's ends.
type FinalTimeline struct {
	TotalDays  float64     `json:"totalDays"`
	TotalWeeks float64     `json:"totalWeeks"`
	Start      Date        `json:"startDate"`
	End        Date        `json:"endDate"`
	Milestones []Milestone `json:"milestones"`
	Range      DaysRange   `json:"durationRange"`
}

// RiskSummary in words.
type RiskSummary struct {
	Level       string   `json:"riskLevel"`
	TopRisks    []string `json:"topRisks"`
	Rationale   string   `json:"contingencyRationale"`
	Mitigations []string `json:"mitigationStrategies"`
}

// Recommendation to the reader.
type Recommendation struct {
	Category    string       `json:"category"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Priority    string       `json:"priority"`
	Savings     *money.Cents `json:"potentialSavings"`
}

// DataQuality of the inputs, 0–1.
type DataQuality struct {
	Completeness float64 `json:"completeness"`
	Cost         float64 `json:"costDataQuality"`
}

// GranularItems points to the line documents.
type GranularItems struct {
	Count     int        `json:"count"`
	Path      string     `json:"collectionPath"` // estimates/{id}/costItems
	Sample    []CostItem `json:"sample"`         // at most 25
	Truncated bool       `json:"sampleTruncated"`
}

// CostItem is one document of estimates/{id}/costItems.
type CostItem struct {
	ID           string    `json:"id"` // {lineItemId}__{category}
	EstimateID   string    `json:"estimateId"`
	DivisionCode string    `json:"divisionCode"`
	DivisionName string    `json:"divisionName"`
	LineItemID   string    `json:"lineItemId"`
	CostCode     string    `json:"costCode"`
	Description  string    `json:"description"`
	Category     string    `json:"category"` // material, labor, equipment
	Name         string    `json:"name"`
	Quantity     float64   `json:"quantity"`
	Unit         Unit      `json:"unit"`
	UnitCost     RateRange `json:"unitCost"`
	TotalCost    Range     `json:"totalCost"`
	Source       string    `json:"source"` // cost_agent
}
