package estimate

import "truecost.dev/shared/estimate/money"

// Risk is the output of the risk agent: the distribution of the total price,
// simulated on the base of the cost agent (no contingency in it, permits fixed).
type Risk struct {
	EstimateID  string          `json:"estimateId"`
	Base        money.Cents     `json:"baseCost"` // Cost.Total.Low
	MonteCarlo  MonteCarlo      `json:"monteCarlo"`
	Contingency ContingencyRule `json:"contingency"`
	TopRisks    []RiskItem      `json:"topRisks"` // at most five
	AllRisks    []RiskItem      `json:"allRisks"`
	Excluded    []ExcludedRisk  `json:"excludedRisks"` // of the register for this kind of job, and why not simulated
	Confidence  ConfidenceRange `json:"confidenceRange"`
	Level       string          `json:"riskLevel"` // Low, Medium, High
	Labor       *LaborRisk      `json:"laborMonteCarlo,omitempty"`
	TotalCost   Percentiles     `json:"totalCostMonteCarlo"`

	Summary         string     `json:"summary"`
	KeyFindings     []string   `json:"keyFindings"`
	Recommendations []string   `json:"recommendations"`
	Assumptions     []string   `json:"assumptions"`
	Analysis        float64    `json:"analysisConfidence"`
	Trust           float64    `json:"confidence"` // the same, under the name every agent has
	NeedsReview     bool       `json:"needsReview"`
	Warnings        []string   `json:"warnings"`
	Revisions       []Revision `json:"revisions,omitempty"`
}

// Percentiles of the total price.
type Percentiles struct {
	P10 money.Cents `json:"p10"`
	P50 money.Cents `json:"p50"`
	P80 money.Cents `json:"p80"`
	P90 money.Cents `json:"p90"`
}

// MonteCarlo is the simulation and its record. Both spellings that readers of
// the documents use are written (min and minValue, histogram and its bins).
type MonteCarlo struct {
	Percentiles
	P25               money.Cents `json:"p25"`
	P75               money.Cents `json:"p75"`
	P95               money.Cents `json:"p95"`
	Iterations        int         `json:"iterations"`
	Seed              string      `json:"seed"` // hexadecimal; a number would lose bits in JSON
	Mean              money.Cents `json:"mean"`
	StdDev            money.Cents `json:"stdDev"`
	Min               money.Cents `json:"min"`
	Max               money.Cents `json:"max"`
	MinValue          money.Cents `json:"minValue"`
	MaxValue          money.Cents `json:"maxValue"`
	AnalyticMean      money.Cents `json:"analyticMean"`
	IndependentStdDev money.Cents `json:"independentStdDev"`   // what uncorrelated lines would give
	Correlation       float64     `json:"averageCorrelation"`  // between the costs of two lines
	OverBase          float64     `json:"probabilityOverBase"` // 0–1
	P80Error          float64     `json:"p80StandardErrorPercent"`
	Converged         bool        `json:"converged"`

	Recommended  money.Cents   `json:"recommendedContingency"`
	Histogram    []Bin         `json:"histogram"`        // 20 contiguous bins
	Edges        []money.Cents `json:"histogram_bins"`   // 21
	Counts       []int         `json:"histogram_counts"` // 20
	Tornado      []Swing       `json:"tornado"`
	Contributors []Contributor `json:"topRiskContributors"` // true variance shares; all of them sum to 1
	TopRisks     []SimRisk     `json:"topRisks"`
}

// Swing is one bar of the tornado: the total with this input at its P10 and at
// its P90, the others at their mean.
type Swing struct {
	Name     string      `json:"name"`
	Low      money.Cents `json:"low"`
	High     money.Cents `json:"high"`
	Spearman float64     `json:"sensitivity"`
}

// Contributor is a share of the variance of the total: cov(X, T)/var(T).
type Contributor struct {
	Name  string  `json:"name"`
	Share float64 `json:"varianceContribution"`
}

// SimRisk is a risk as the chart reads it.
type SimRisk struct {
	ID          string      `json:"id"`
	Item        string      `json:"item"`
	Name        string      `json:"name"`
	Impact      money.Cents `json:"impact"`
	Expected    money.Cents `json:"expected_impact"`
	Probability float64     `json:"probability"`
	Sensitivity float64     `json:"sensitivity"`
	Share       float64     `json:"variance_contribution"`
}

// ContingencyRule is P80 − base and why. Recommended is percent of the base.
type ContingencyRule struct {
	Recommended float64     `json:"recommended"`
	Dollars     money.Cents `json:"dollarAmount"`
	Rationale   string      `json:"rationale"`
	Level       string      `json:"confidenceLevel"` // "P80"
}

// RiskItem is an entry of the register as it applies to this job.
type RiskItem struct {
	ID          string      `json:"id"`
	Item        string      `json:"item"`
	Description string      `json:"description"`
	Category    string      `json:"category"`
	Impact      string      `json:"impact"` // low, medium, high
	Probability float64     `json:"probability"`
	CostLow     money.Cents `json:"costImpactLow"`
	CostMode    money.Cents `json:"costImpactLikely"`
	CostHigh    money.Cents `json:"costImpactHigh"`
	Expected    money.Cents `json:"expectedImpact"` // probability × mean impact on the price
	CostBase    string      `json:"costBase"`       // direct, material or labor: what the impact is a share of
	DelayLow    float64     `json:"delayDaysLow"`   // working days, of the activity it strikes
	DelayMode   float64     `json:"delayDaysLikely"`
	DelayHigh   float64     `json:"delayDaysHigh"`
	Group       string      `json:"correlationGroup"`
	Share       float64     `json:"varianceContribution"`
	Mitigation  string      `json:"mitigation"`
	Why         string      `json:"whyRelevant"`
}

// ExcludedRisk is an entry of the register that is not simulated.
type ExcludedRisk struct {
	ID   string `json:"id"`
	Item string `json:"item"`
	Why  string `json:"why"`
}

// ConfidenceRange repeats the percentiles in the words of the summary tab.
type ConfidenceRange struct {
	P50    money.Cents `json:"p50"`
	P80    money.Cents `json:"p80"`
	P90    money.Cents `json:"p90"`
	Low    money.Cents `json:"low"`
	Likely money.Cents `json:"likely"`
	High   money.Cents `json:"high"`
}

// LaborRisk is the labor part alone: direct labor dollars, before markups.
type LaborRisk struct {
	Percentiles
	Iterations int                    `json:"iterations"`
	Mean       money.Cents            `json:"mean"`
	StdDev     money.Cents            `json:"stdDev"`
	MinValue   money.Cents            `json:"minValue"`
	MaxValue   money.Cents            `json:"maxValue"`
	TopRisks   []TradeRisk            `json:"topLaborRisks"` // all trades, the largest share first
	Histogram  []Bin                  `json:"histogram"`
	ByTrade    map[string]Percentiles `json:"byTrade"`
}

// TradeRisk is what one trade adds to the spread of labor. Impact is its P90
// less its P50; the shares of all trades sum to 1.
type TradeRisk struct {
	Trade       string      `json:"trade"`
	Impact      money.Cents `json:"impact"`
	Share       float64     `json:"varianceContribution"`
	Sensitivity float64     `json:"sensitivity"` // correlation with labor as a whole
}
