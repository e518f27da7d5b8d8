package estimate

import (
	"encoding/json"
	"time"
)

// SchemaVersion is the only version of ClarificationOutput that is accepted.
const SchemaVersion = "3.0.0"

// Clarification is a validated and normalised ClarificationOutput: enums in
// their canonical spelling, units canonical, ZIP of five digits, the state in
// capitals. intake makes it; the bytes as received are kept beside it, so
// members this type does not know survive.
type Clarification struct {
	EstimateID    string    `json:"estimateId"`
	SchemaVersion string    `json:"schemaVersion"`
	Timestamp     time.Time `json:"timestamp"`
	Status        string    `json:"clarificationStatus"` // complete or needs_review
	ProjectID     string    `json:"projectId,omitempty"`

	Brief        Brief                    `json:"projectBrief"`
	Scope        map[string]ScopeDivision `json:"csiScope"` // the 24 keys of catalog.Divisions
	CAD          CAD                      `json:"cadData"`
	Conversation Conversation             `json:"conversation"`
	Flags        Flags                    `json:"flags"`
	ProjectScope string                   `json:"projectScope,omitempty"`
}

// Brief says what is to be built, where, how well, and for whom.
type Brief struct {
	ProjectType string  `json:"projectType"` // one of ProjectTypes
	ProjectName string  `json:"projectName,omitempty"`
	Location    Address `json:"location"`
	Summary     Summary `json:"scopeSummary"`

	// Preferences is what the user set, from costPreferences of the brief or
	// the root, else from estimateConfiguration; nil when neither was given.
	Preferences *Preferences `json:"costPreferences,omitempty"`

	// Contractor is what the contractor set for himself, from contractorSettings
	// of the brief or the root; nil when nothing usable was given.
	Contractor *Contractor `json:"contractorSettings,omitempty"`

	SpecialRequirements []string `json:"specialRequirements"`
	Exclusions          []string `json:"exclusions"`
	Timeline            Wishes   `json:"timeline"`
	YearBuilt           int      `json:"yearBuilt,omitempty"` // 0 when unknown
}

// Address of the work. Zip has five digits, State two capital letters.
type Address struct {
	Full        string       `json:"fullAddress"`
	Street      string       `json:"streetAddress"`
	Unit        string       `json:"unit,omitempty"`
	City        string       `json:"city"`
	State       string       `json:"state"`
	Zip         string       `json:"zipCode"`
	County      string       `json:"county,omitempty"`
	Coordinates *Coordinates `json:"coordinates,omitempty"`
}

// Coordinates in degrees.
type Coordinates struct {
	Lat float64 `json:"lat"`
	Lng float64 `json:"lng"`
}

// Summary of the scope as the clarifier saw it. Sqft is the treated floor area.
type Summary struct {
	Description   string   `json:"description"`
	Sqft          float64  `json:"totalSqft"`
	Rooms         []string `json:"rooms"`
	Finish        string   `json:"finishLevel"`       // budget, mid_range, high_end, luxury
	Complexity    string   `json:"projectComplexity"` // simple, moderate, complex
	Included      []string `json:"includedDivisions"`
	Excluded      []string `json:"excludedDivisions"`
	ByOwner       []string `json:"byOwnerDivisions"`
	NotApplicable []string `json:"notApplicableDivisions"`
	TotalIncluded int      `json:"totalIncluded"`
	TotalExcluded int      `json:"totalExcluded"`
}

// Preferences are the user's own rates, as fractions; a nil one was not given
// and the contract profile of the project type holds. Waste is a factor, 1.10
// for ten percent.
type Preferences struct {
	Overhead    *float64 `json:"overheadPct,omitempty"`
	Profit      *float64 `json:"profitPct,omitempty"`
	Contingency *float64 `json:"contingencyPct,omitempty"`
	Waste       *float64 `json:"wasteFactor,omitempty"`
}

// Wishes about time. Start and Deadline are nil when not given.
type Wishes struct {
	Start       *Date  `json:"desiredStart"`
	Deadline    *Date  `json:"deadline"`
	Flexibility string `json:"flexibility"` // strict, flexible, open
}

// Statuses of a division. Only an included division is priced.
const (
	Included      = "included"
	Excluded      = "excluded"
	ByOwner       = "by_owner"
	NotApplicable = "not_applicable"
)

// ScopeDivision is one of the 24 CSI divisions of the scope.
type ScopeDivision struct {
	Code        string      `json:"code"`
	Name        string      `json:"name"`
	Status      string      `json:"status"`
	Reason      string      `json:"exclusionReason,omitempty"`
	Description string      `json:"description"`
	Items       []ScopeItem `json:"items"`
}

// ScopeItem is one line of the scope. Unit is canonical (see Unit).
type ScopeItem struct {
	ID              string  `json:"id"`
	Item            string  `json:"item"`
	Subdivision     string  `json:"subdivisionCode,omitempty"`
	Quantity        float64 `json:"quantity"`
	Unit            Unit    `json:"unit"`
	UnitDescription string  `json:"unitDescription,omitempty"`
	Specifications  string  `json:"specifications,omitempty"`
	Notes           string  `json:"notes,omitempty"`
	Confidence      float64 `json:"confidence"` // 0–1
	Source          string  `json:"source"`     // cad_extraction, user_input, inferred, standard_allowance, annotation
}

// CAD is what was measured from drawings. Lengths are feet, areas square feet;
// intake converts from the units of the drawing.
type CAD struct {
	FileURL    string     `json:"fileUrl"`
	FileType   string     `json:"fileType"`
	Method     string     `json:"extractionMethod"`
	Confidence float64    `json:"extractionConfidence"`
	Space      SpaceModel `json:"spaceModel"`
	Relations  Relations  `json:"spatialRelationships"`

	// The room-specific blocks are free-form; consumers read what they need.
	Kitchen    json.RawMessage `json:"kitchenSpecific,omitempty"`
	Bathroom   json.RawMessage `json:"bathroomSpecific,omitempty"`
	Bedroom    json.RawMessage `json:"bedroomSpecific,omitempty"`
	LivingArea json.RawMessage `json:"livingAreaSpecific,omitempty"`
}

// SpaceModel is the measured geometry.
type SpaceModel struct {
	Sqft     float64   `json:"totalSqft"`
	Box      Box       `json:"boundingBox"`
	Scale    Scale     `json:"scale"`
	Rooms    []Room    `json:"rooms"`
	Walls    []Wall    `json:"walls"`
	Openings []Opening `json:"openings"`
}

// Box is the extent of the drawing.
type Box struct {
	Length float64 `json:"length"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Units  string  `json:"units"`
}

// Scale of the drawing. Quantities from a drawing without one are guesses.
type Scale struct {
	Detected bool    `json:"detected"`
	Ratio    float64 `json:"ratio,omitempty"`
	Units    string  `json:"units"`
}

// Room of the space model.
type Room struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Type         string     `json:"type"`
	Sqft         float64    `json:"sqft"`
	Dimensions   Dimensions `json:"dimensions"`
	Confidence   float64    `json:"confidence"`
	Verification bool       `json:"needsVerification"`
}

// Dimensions of a room; Height is 0 when not given.
type Dimensions struct {
	Length float64 `json:"length"`
	Width  float64 `json:"width"`
	Height float64 `json:"height,omitempty"`
}

// Wall of the space model.
type Wall struct {
	ID         string  `json:"id"`
	Length     float64 `json:"length"`
	Height     float64 `json:"height,omitempty"`
	Thickness  float64 `json:"thickness,omitempty"`
	Type       string  `json:"type"`
	Material   string  `json:"material,omitempty"`
	Confidence float64 `json:"confidence"`
}

// Opening in a wall.
type Opening struct {
	ID         string  `json:"id"`
	Type       string  `json:"type"` // door, window, archway, pass_through
	Width      float64 `json:"width"`
	Height     float64 `json:"height"`
	InWall     string  `json:"inWall"`
	Confidence float64 `json:"confidence"`
}

// Relations between the rooms.
type Relations struct {
	Narrative   string            `json:"layoutNarrative"`
	Adjacencies []json.RawMessage `json:"roomAdjacencies"`
	Entries     []json.RawMessage `json:"entryPoints"`
}

// Conversation is how the scope was clarified.
type Conversation struct {
	Method     string            `json:"inputMethod"`
	Messages   int               `json:"messageCount"`
	Questions  []json.RawMessage `json:"clarificationQuestions"`
	Confidence float64           `json:"confidenceScore"`
}

// Flags say what the clarifier was unsure of. They bind: a flagged item has a
// wider range and appears among the assumptions.
type Flags struct {
	LowConfidence     []LowConfidence `json:"lowConfidenceItems"`
	MissingData       []string        `json:"missingData"`
	UserVerification  bool            `json:"userVerificationRequired"`
	VerificationItems []string        `json:"verificationItems"`
}

// LowConfidence names a field by its JSON path,
// csiScope.div10_specialties.items[0].
type LowConfidence struct {
	Field      string  `json:"field"`
	Confidence float64 `json:"confidence"`
	Reason     string  `json:"reason"`
}
