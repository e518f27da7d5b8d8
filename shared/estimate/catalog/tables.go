package catalog

import "sync"

// Version names the edition of the embedded tables. It enters every seed, so
// numbers may change only together with it.
const Version = "2025.1"

// PriceYear is the year of every price and rate in the tables.
const PriceYear = 2025

// Item is a unit of work: what it costs in material per unit and how many
// worker-hours it takes. Prices are national, in US dollars, before sales tax;
// low and high are about P10 and P90 of market and quality.
type Item struct {
	Code            string  `csv:"code"`    // section and suffix, 093013.10
	Section         string  `csv:"section"` // MasterFormat, "09 30 13"
	Division        string  `csv:"division"`
	Name            string  `csv:"name"`
	Unit            string  `csv:"unit"`
	MatLow          float64 `csv:"mat_low"`
	MatTyp          float64 `csv:"mat_typ"`
	MatHigh         float64 `csv:"mat_high"`
	WastePct        float64 `csv:"waste_pct"`
	Trade           string  `csv:"trade"` // key of Trades
	Crew            string  `csv:"crew"`
	HoursLow        float64 `csv:"lh_low"` // worker-hours per unit, new-work pace
	HoursTyp        float64 `csv:"lh_typ"`
	HoursHigh       float64 `csv:"lh_high"`
	Equipment       float64 `csv:"equip_cost"`       // dollars per unit
	FinishSensitive bool    `csv:"finish_sensitive"` // the finish level picks low, typ or high
	Confidence      string  `csv:"confidence"`
}

// Trade is a crew: its burdened rate and, when it works as a subcontractor, its
// own overhead and profit.
type Trade struct {
	Key            string  `csv:"trade"`
	SOC            string  `csv:"soc"`
	Title          string  `csv:"soc_title"`
	Crew           string  `csv:"crew"`
	HelperSharePct float64 `csv:"helper_share_pct"`
	Wage           float64 `csv:"wage_2025"`               // $/h, journeyman, bare
	CrewWage       float64 `csv:"crew_avg_wage_2025"`      // $/h, crew average, bare
	BurdenPct      float64 `csv:"burden_pct"`              // on the wage
	Rate           float64 `csv:"burdened_crew_rate_2025"` // $/h per worker, burdened
	SubOnLaborPct  float64 `csv:"sub_op_on_labor_pct"`
	SubOnMatPct    float64 `csv:"sub_op_on_material_pct"`
	SelfPerformed  bool    `csv:"self_performed_by_remodeler"`
}

// Markup is a contract profile: percentages on cost, in the order of
// estimating practice (general conditions, overhead, profit).
type Markup struct {
	Profile              string  `csv:"profile"`
	GeneralConditionsPct float64 `csv:"general_conditions_pct"`
	OverheadPct          float64 `csv:"overhead_pct"`
	ProfitPct            float64 `csv:"profit_pct"`
	LaborFactor          float64 `csv:"labor_hours_factor"`
	MaterialFactor       float64 `csv:"material_cost_factor"`
	SubMarkup            bool    `csv:"sub_op_applies"`
	Description          string  `csv:"description"`
}

// PermitFee is the cost of permission for a class of work.
type PermitFee struct {
	Class       string  `csv:"permit_class"`
	Base        float64 `csv:"base_fee_usd"`
	Pct         float64 `csv:"pct_of_contract_value"`
	Description string  `csv:"description"`
}

// State is what a state of the union, or DC, means for a price.
type State struct {
	Name             string   `csv:"state"`
	Abbr             string   `csv:"abbr"`
	Region           string   `csv:"census_region"`
	Division         string   `csv:"census_division"`
	LocationIndex    float64  `csv:"location_index"` // composite, for display and lump sums
	LaborIndex       float64  `csv:"labor_index"`
	MaterialIndex    float64  `csv:"material_index"`
	LaborIndexSource string   `csv:"labor_index_source"`
	SalesTaxPct      float64  `csv:"sales_tax_combined_pct"`
	SalesTaxBase     string   `csv:"sales_tax_base"`
	UnionSharePct    float64  `csv:"union_share_construction_pct"`
	BurdenPct        float64  `csv:"labor_burden_pct"`
	PermitPct        float64  `csv:"permit_pct_of_value"`
	PermitMin        float64  `csv:"permit_min_usd"`
	ClimateZone      string   `csv:"iecc_zone_typical"`
	WeatherGroup     string   `csv:"weather_group"`
	Jan              float64  `csv:"wx_lost_days_m01"`
	Feb              float64  `csv:"wx_lost_days_m02"`
	Mar              float64  `csv:"wx_lost_days_m03"`
	Apr              float64  `csv:"wx_lost_days_m04"`
	May              float64  `csv:"wx_lost_days_m05"`
	Jun              float64  `csv:"wx_lost_days_m06"`
	Jul              float64  `csv:"wx_lost_days_m07"`
	Aug              float64  `csv:"wx_lost_days_m08"`
	Sep              float64  `csv:"wx_lost_days_m09"`
	Oct              float64  `csv:"wx_lost_days_m10"`
	Nov              float64  `csv:"wx_lost_days_m11"`
	Dec              float64  `csv:"wx_lost_days_m12"`
	USACEFactor      *float64 `csv:"cwccis_factor_2026_03"` // civil works: a cross-check only
}

// LostDays returns the expected lost exterior working days of each month, of
// about 21, January first.
func (s *State) LostDays() [12]float64 {
	return [12]float64{s.Jan, s.Feb, s.Mar, s.Apr, s.May, s.Jun, s.Jul, s.Aug, s.Sep, s.Oct, s.Nov, s.Dec}
}

// Metro is a metropolitan area with its own wage level.
type Metro struct {
	Key           string  `csv:"metro_key"`
	Name          string  `csv:"metro"`
	State         string  `csv:"state"`
	Zip3          string  `csv:"zip3"` // prefixes, separated by spaces
	LaborIndex    float64 `csv:"labor_index"`
	MaterialIndex float64 `csv:"material_index"`
	LocationIndex float64 `csv:"location_index"`
	Note          string  `csv:"note"`
	Confidence    string  `csv:"confidence"`
	WageSource    string  `csv:"wage_source"`
}

// Prefix is a three-digit ZIP prefix.
type Prefix struct {
	Zip3          string   `csv:"zip3"`
	State         string   `csv:"state"` // a territory or a military area too
	City          string   `csv:"main_city"`
	Latitude      *float64 `csv:"latitude"`
	Longitude     *float64 `csv:"longitude"`
	Type          string   `csv:"type"`
	MetroKey      string   `csv:"metro_key"`
	MetroMiles    *float64 `csv:"metro_distance_mi"`
	Method        string   `csv:"index_method"` // listed, nearest_in_state_45mi, state_rural_0.98 or empty
	LocationIndex *float64 `csv:"location_index"`
}

// Wage is a mean hourly wage of an occupation in an area, bare of burden.
type Wage struct {
	Area     string   `csv:"area"` // US or a state
	SOC      string   `csv:"soc"`
	Trade    string   `csv:"trade"`
	Title    string   `csv:"title"`
	Mean     *float64 `csv:"hourly_mean"` // nil where the survey suppressed it
	Year     string   `csv:"year"`
	Mean2025 float64  `csv:"hourly_mean_2025_est"`
	Status   string   `csv:"status"`
}

// ProjectType is a kind of job with its drivers (floor area A, height H, …) and
// the contract profile, permit class and price points it is done under.
type ProjectType struct {
	Key            string  `csv:"project_key"`
	SchemaType     string  `csv:"schema_project_type"`
	FinishLevels   string  `csv:"finish_levels"`
	PricePoints    string  `csv:"price_points"` // budget:low;mid_range:typ
	MarkupProfile  string  `csv:"markup_profile"`
	PermitClass    string  `csv:"permit_class"`
	DesignFeePct   float64 `csv:"design_fee_pct"`
	WorkingDays    float64 `csv:"typical_working_days"`
	DriverDefaults string  `csv:"driver_defaults"` // A=200;H=8;P=4.12*sqrt(A), evaluated left to right
	Description    string  `csv:"description"`
	CheckPrice     float64 `csv:"national_2025_check_price"`
	HoursCheck     float64 `csv:"labor_hours_check"`
	RiskGroup      string  `csv:"risk_group"`
}

// AssemblyLine is one item of the typical bill of a project type.
type AssemblyLine struct {
	ProjectKey string `csv:"project_key"`
	Line       int    `csv:"line"`
	Group      string `csv:"group"`
	ItemCode   string `csv:"item_code"`
	ItemName   string `csv:"item_name"`
	Formula    string `csv:"qty_formula"` // over the drivers of the project type
	Unit       string `csv:"unit"`
}

// Risk is an entry of the register: with its probability it costs between low
// and high percent of its base and delays the work by some days.
type Risk struct {
	ID           string  `csv:"risk_id"`
	ProjectTypes string  `csv:"project_types"` // risk groups, comma separated, or all
	Name         string  `csv:"name"`
	Category     string  `csv:"category"`
	Probability  float64 `csv:"probability"`
	CostLowPct   float64 `csv:"cost_low_pct"`
	CostModePct  float64 `csv:"cost_mode_pct"`
	CostHighPct  float64 `csv:"cost_high_pct"`
	CostBase     string  `csv:"cost_base"`
	DelayLow     float64 `csv:"delay_low_days"`
	DelayMode    float64 `csv:"delay_mode_days"`
	DelayHigh    float64 `csv:"delay_high_days"`
	Group        string  `csv:"correlation_group"`
	Trigger      string  `csv:"trigger_or_driver"`
	Response     string  `csv:"response"`
}

// Activity is a node of the generic schedule network.
type Activity struct {
	Seq              int     `csv:"seq"`
	Name             string  `csv:"activity"`
	Trades           string  `csv:"trade_keys"`
	Predecessors     string  `csv:"predecessor_seqs"`
	Relation         string  `csv:"relation"` // FS or SS
	LagDays          float64 `csv:"lag_days"`
	CrewSize         float64 `csv:"crew_size"`
	MinDays          float64 `csv:"min_days"`
	WeatherSensitive bool    `csv:"weather_sensitive"`
	AppliesTo        string  `csv:"applies_to"`
	Note             string  `csv:"note"`
}

// Productivity is a multiplier of labor hours under a condition.
type Productivity struct {
	ID        string  `csv:"factor_id"`
	Name      string  `csv:"name"`
	AppliesTo string  `csv:"applies_to"`
	Condition string  `csv:"condition"`
	Low       float64 `csv:"hours_multiplier_low"`
	Typ       float64 `csv:"hours_multiplier_typ"`
	High      float64 `csv:"hours_multiplier_high"`
	Basis     string  `csv:"basis"`
}

// Escalation is the construction cost index of a year, 2025 = 100.
type Escalation struct {
	Year      int     `csv:"year"`
	Composite float64 `csv:"composite_index_2025_100"`
	Labor     float64 `csv:"labor_index_2025_100"`
	Material  float64 `csv:"material_index_2025_100"`
	Note      string  `csv:"note"`
}

// Class is an estimate class of AACE 18R-97 with the accuracy of 56R-08 for
// buildings, in percent of the estimate.
type Class struct {
	Class    int     `csv:"class"`
	Maturity string  `csv:"maturity_pct"`
	Usage    string  `csv:"end_usage"`
	Method   string  `csv:"typical_method"`
	LowMin   float64 `csv:"building_low_min"`
	LowMax   float64 `csv:"building_low_max"`
	HighMin  float64 `csv:"building_high_min"`
	HighMax  float64 `csv:"building_high_max"`
	Input    string  `csv:"typical_truecost_input"`
}

// Division is one of the 24 divisions of the input contract.
type Division struct {
	Code string `csv:"division"`
	Name string `csv:"name"`
	Key  string `csv:"schema_key"`
}

// The tables, each decoded at its first use and never written. A caller must
// not change what they return.
var (
	Items          = sync.OnceValue(func() []Item { return load[Item]("materials") })
	Trades         = sync.OnceValue(func() []Trade { return load[Trade]("trades") })
	Markups        = sync.OnceValue(func() []Markup { return load[Markup]("markups") })
	PermitFees     = sync.OnceValue(func() []PermitFee { return load[PermitFee]("permit_fees") })
	States         = sync.OnceValue(func() []State { return load[State]("states") })
	Metros         = sync.OnceValue(func() []Metro { return load[Metro]("metros") })
	Prefixes       = sync.OnceValue(func() []Prefix { return load[Prefix]("zip3") })
	Wages          = sync.OnceValue(func() []Wage { return load[Wage]("wages") })
	ProjectTypes   = sync.OnceValue(func() []ProjectType { return load[ProjectType]("project_types") })
	AssemblyLines  = sync.OnceValue(func() []AssemblyLine { return load[AssemblyLine]("assemblies") })
	Risks          = sync.OnceValue(func() []Risk { return load[Risk]("risk_factors") })
	Activities     = sync.OnceValue(func() []Activity { return load[Activity]("schedule_logic") })
	Productivities = sync.OnceValue(func() []Productivity { return load[Productivity]("productivity") })
	Escalations    = sync.OnceValue(func() []Escalation { return load[Escalation]("escalation") })
	Classes        = sync.OnceValue(func() []Class { return load[Class]("aace_classes") })
	Divisions      = sync.OnceValue(func() []Division { return load[Division]("csi_divisions") })
)

var (
	itemIndex   = sync.OnceValue(func() map[string]*Item { return index("materials", Items(), func(i *Item) string { return i.Code }) })
	tradeIndex  = sync.OnceValue(func() map[string]*Trade { return index("trades", Trades(), func(t *Trade) string { return t.Key }) })
	markupIndex = sync.OnceValue(func() map[string]*Markup {
		return index("markups", Markups(), func(m *Markup) string { return m.Profile })
	})
	permitIndex = sync.OnceValue(func() map[string]*PermitFee {
		return index("permit_fees", PermitFees(), func(p *PermitFee) string { return p.Class })
	})
	stateIndex   = sync.OnceValue(func() map[string]*State { return index("states", States(), func(s *State) string { return s.Abbr }) })
	metroIndex   = sync.OnceValue(func() map[string]*Metro { return index("metros", Metros(), func(m *Metro) string { return m.Key }) })
	prefixIndex  = sync.OnceValue(func() map[string]*Prefix { return index("zip3", Prefixes(), func(p *Prefix) string { return p.Zip3 }) })
	projectIndex = sync.OnceValue(func() map[string]*ProjectType {
		return index("project_types", ProjectTypes(), func(p *ProjectType) string { return p.Key })
	})
)

// Lookups by key. Each returns nil for a key the catalogue lacks.

// ItemByCode returns the item with a full code, 093013.10.
func ItemByCode(code string) *Item { return itemIndex()[code] }

// TradeByKey returns a crew by its key.
func TradeByKey(key string) *Trade { return tradeIndex()[key] }

// MarkupByProfile returns a contract profile.
func MarkupByProfile(profile string) *Markup { return markupIndex()[profile] }

// PermitByClass returns the fee of a permit class.
func PermitByClass(class string) *PermitFee { return permitIndex()[class] }

// StateByAbbr returns a state by its two letters.
func StateByAbbr(abbr string) *State { return stateIndex()[abbr] }

// MetroByKey returns a metropolitan area.
func MetroByKey(key string) *Metro { return metroIndex()[key] }

// PrefixByZip3 returns a ZIP prefix by its three digits.
func PrefixByZip3(zip3 string) *Prefix { return prefixIndex()[zip3] }

// ProjectTypeByKey returns a project type by its key.
func ProjectTypeByKey(key string) *ProjectType { return projectIndex()[key] }
