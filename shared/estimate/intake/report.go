package intake

import (
	"fmt"
	"strings"

	"truecost.dev/shared/estimate/catalog"
)

// Codes of problems. Those of the published validator keep their names.
const (
	InvalidJSON    = "INVALID_JSON"
	TooLarge       = "TOO_LARGE"
	TooDeep        = "TOO_DEEP"
	TooManyItems   = "TOO_MANY_ITEMS"
	OldFormat      = "OLD_FORMAT"
	MissingField   = "MISSING_FIELD"
	InvalidType    = "INVALID_TYPE"
	InvalidNumber  = "INVALID_NUMBER"
	InvalidDate    = "INVALID_DATE"
	DeadlineBefore = "DEADLINE_BEFORE_START"

	MissingEstimateID    = "MISSING_ESTIMATE_ID"
	InvalidEstimateID    = "INVALID_ESTIMATE_ID"
	InvalidSchemaVersion = "INVALID_SCHEMA_VERSION"
	MissingTimestamp     = "MISSING_TIMESTAMP"
	InvalidTimestamp     = "INVALID_TIMESTAMP"
	InvalidStatus        = "INVALID_STATUS"
	NeedsReview          = "NEEDS_REVIEW"

	MissingProjectBrief = "MISSING_PROJECT_BRIEF"
	InvalidProjectType  = "INVALID_PROJECT_TYPE"
	MissingLocation     = "MISSING_LOCATION"
	IncompleteLocation  = "INCOMPLETE_LOCATION"
	InvalidState        = "INVALID_STATE"
	InvalidZip          = "INVALID_ZIP"
	ZipStateMismatch    = "ZIP_STATE_MISMATCH"
	InvalidCoordinates  = "INVALID_COORDINATES"
	InvalidFinishLevel  = "INVALID_FINISH_LEVEL"
	InvalidComplexity   = "INVALID_COMPLEXITY"
	InvalidSqft         = "INVALID_SQFT"
	InvalidFlexibility  = "INVALID_FLEXIBILITY"
	InvalidPreference   = "INVALID_PREFERENCE"
	UnusualPreference   = "UNUSUAL_PREFERENCE"
	DivisionMismatch    = "DIVISION_LIST_MISMATCH"
	CountMismatch       = "DIVISION_COUNT_MISMATCH"
	InvalidDivision     = "INVALID_DIVISION_CODE"

	MissingScope       = "MISSING_CSI_SCOPE"
	DivisionMissing    = "CSI_DIVISION_MISSING"
	InvalidCSIStatus   = "INVALID_CSI_STATUS"
	EmptyDivision      = "EMPTY_INCLUDED_DIVISION"
	MissingReason      = "MISSING_EXCLUSION_REASON"
	IncompleteLineItem = "INCOMPLETE_LINE_ITEM"
	DuplicateItemID    = "DUPLICATE_ITEM_ID"
	InvalidQuantity    = "INVALID_QUANTITY"
	ZeroQuantity       = "ZERO_QUANTITY"
	UnknownUnit        = "UNKNOWN_UNIT"
	InvalidSource      = "INVALID_SOURCE"
	InvalidConfidence  = "INVALID_CONFIDENCE"

	MissingCAD          = "MISSING_CAD_DATA"
	MissingCADFile      = "MISSING_CAD_FILE"
	InvalidFileType     = "INVALID_FILE_TYPE"
	InvalidMethod       = "INVALID_EXTRACTION_METHOD"
	UnknownDrawingUnits = "UNKNOWN_DRAWING_UNITS"
	ScaleNotDetected    = "SCALE_NOT_DETECTED"
	ShortNarrative      = "SHORT_LAYOUT_NARRATIVE"
	MissingSpecific     = "MISSING_PROJECT_SPECIFIC_DATA"

	MissingConversation  = "MISSING_CONVERSATION"
	InvalidInputMethod   = "INVALID_INPUT_METHOD"
	MissingFlags         = "MISSING_FLAGS"
	VerificationRequired = "USER_VERIFICATION_REQUIRED"
)

// Problem is one fault or doubt. Path is a JSON path such as
// csiScope.div09_finishes.items[2].unit, or $ for the whole document. Wanted
// says what would have been right, where that can be said.
type Problem struct {
	Path    string `json:"path"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Wanted  string `json:"wanted,omitempty"`
}

// String returns path, message, what was wanted, and the code.
func (p Problem) String() string {
	wanted := ""
	if p.Wanted != "" {
		wanted = "; wanted " + p.Wanted
	}
	return fmt.Sprintf("%s: %s%s [%s]", p.Path, p.Message, wanted, p.Code)
}

// Report is the judgement of a document.
type Report struct {
	Errors   []Problem `json:"errors"`
	Warnings []Problem `json:"warnings"`

	// Completeness is 0–100: 40 for the divisions present, 40 less 4 for each
	// error, 20 less 2 for each warning, the last two never below 0.
	Completeness float64  `json:"completenessScore"`
	Coverage     Coverage `json:"csiCoverage"`
}

// Coverage counts the divisions by status. Missing holds the keys of csiScope
// that are absent.
type Coverage struct {
	Included      int      `json:"included"`
	Excluded      int      `json:"excluded"`
	ByOwner       int      `json:"byOwner"`
	NotApplicable int      `json:"notApplicable"`
	Missing       []string `json:"missing"`
}

// OK reports whether the document may be estimated.
func (r Report) OK() bool { return len(r.Errors) == 0 }

// Reasons returns why a person should look at the estimate: one sentence for
// each warning, in order. An estimate needs review when there is any.
func (r Report) Reasons() []string {
	reasons := make([]string, len(r.Warnings))
	for i, w := range r.Warnings {
		reasons[i] = w.Path + ": " + w.Message
	}
	return reasons
}

// Err returns nil when the document may be estimated, else an error that names
// the first path and says how many more there are.
func (r Report) Err() error {
	if r.OK() {
		return nil
	}
	text := r.Errors[0].String()
	if more := len(r.Errors) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return fmt.Errorf("clarification: %s", text)
}

// log collects problems in the order they are found.
type log struct{ errors, warnings []Problem }

func (l *log) report(coverage Coverage) Report {
	r := Report{Errors: l.errors, Warnings: l.warnings, Coverage: coverage}
	divisions := float64(len(catalog.Divisions()))
	present := divisions - float64(len(coverage.Missing))
	r.Completeness = present/divisions*40 +
		max(0, float64(10-len(r.Errors))/10*40) +
		20 - min(2*float64(len(r.Warnings)), 20)
	return r
}

// list writes alternatives as people do: a, b or c.
func list(of []string) string {
	if len(of) < 2 {
		return strings.Join(of, "")
	}
	last := len(of) - 1
	return strings.Join(of[:last], ", ") + " or " + of[last]
}
