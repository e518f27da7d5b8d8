package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// Bounds of a document. It is stored as it came, beside other fields, in a
// document of at most 1 MiB.
const (
	MaxBytes = 900_000
	MaxDepth = 64
	MaxItems = 1000 // lines of the scope, all divisions together
)

// Parse reads a ClarificationOutput. With any error in the report the
// clarification is the zero value; with warnings alone it may be used and the
// estimate needs review (Report.Reasons).
func Parse(raw []byte) (estimate.Clarification, Report) {
	l := &log{}
	root := cursor{l, "$", nil}
	if !root.decode(raw) {
		return estimate.Clarification{}, l.report(coverage(nil))
	}
	statuses := root.statuses()
	c := estimate.Clarification{
		EstimateID:    root.at("estimateId").id(),
		SchemaVersion: root.at("schemaVersion").version(),
		Timestamp:     root.at("timestamp").stamp(),
		Status:        root.at("clarificationStatus").pick(clarificationStatuses),
		ProjectID:     root.projectID(),
		Brief:         root.brief(statuses),
		Scope:         root.scope(),
		CAD:           root.cad(),
		Conversation:  root.at("conversation").conversation(),
		Flags:         root.at("flags").flags(),
		ProjectScope:  root.at("projectScope").optional(),
	}
	root.doubts(&c)
	root.numbers()
	report := l.report(coverage(statuses))
	if !report.OK() {
		return estimate.Clarification{}, report
	}
	return c, report
}

var clarificationStatuses = choice{of: []string{"complete", "needs_review"}, code: InvalidStatus}

// decode makes the value of c from raw, within the bounds; false when there is
// nothing worth reading further.
func (c *cursor) decode(raw []byte) bool {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if len(raw) > MaxBytes {
		c.fail(TooLarge, "", "is longer than %d bytes", MaxBytes)
		return false
	}
	if depth(raw) > MaxDepth {
		c.fail(TooDeep, "", "is nested deeper than %d levels", MaxDepth)
		return false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err := d.Decode(&c.v)
	if err == nil {
		if _, err = d.Token(); err == nil {
			err = errors.New("more than one JSON value")
		}
	}
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		c.fail(InvalidJSON, "a ClarificationOutput", "is empty")
	case !errors.Is(err, io.EOF): // anything but a clean end
		c.fail(InvalidJSON, "one JSON object", "line %d: %v", line(raw, d.InputOffset()), err)
	case kind(c.v) != "an object":
		c.wrongType("an object")
	case c.isOldFormat():
		c.fail(OldFormat, "a ClarificationOutput with projectBrief and csiScope, schemaVersion "+estimate.SchemaVersion,
			"is a payload of the older form {version, project, location, scope}")
	default:
		return true
	}
	return false
}

// numbers reports what is too large for any reader, in members that are kept
// as they are; those that are read have been reported.
func (c cursor) numbers() {
	switch v := c.v.(type) {
	case json.Number:
		reported := func(p Problem) bool { return p.Path == c.path }
		if _, ok := parse(v); !ok && !slices.ContainsFunc(c.log.errors, reported) {
			c.fail(InvalidNumber, "a number that a double can hold", "is %.40s", v)
		}
	case []any:
		for _, e := range c.each() {
			e.numbers()
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			c.at(key).numbers()
		}
	}
}

func line(raw []byte, offset int64) int {
	return 1 + bytes.Count(raw[:min(int(offset), len(raw))], []byte("\n"))
}

func (c *cursor) isOldFormat() bool {
	has := func(key string) bool { return !c.at(key).absent() }
	return has("project") && (has("version") || has("location") || has("scope")) && !has("projectBrief") && !has("csiScope")
}

// depth returns how deep raw is nested, without decoding it and whether or not
// it is JSON.
func depth(raw []byte) (deepest int) {
	now, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			now++
			deepest = max(deepest, now)
		case b == '}' || b == ']':
			now--
		}
	}
	return deepest
}

// An id becomes the name of a document.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// ValidID reports whether id may name an estimate.
func ValidID(id string) bool { return idPattern.MatchString(id) }

func (c cursor) id() string {
	id := c.text(MissingEstimateID)
	if id != "" && !ValidID(id) {
		c.fail(InvalidEstimateID, "1 to 128 letters, digits, _ or -", "%.140q cannot name an estimate", id)
	}
	return id
}

func (c cursor) version() string {
	v := c.optional()
	switch {
	case c.absent():
		c.fail(InvalidSchemaVersion, estimate.SchemaVersion, "is missing")
	case v != estimate.SchemaVersion && (v != "" || isString(c.v)):
		c.fail(InvalidSchemaVersion, estimate.SchemaVersion, "is %q", v)
	}
	return v
}

func (c cursor) stamp() time.Time {
	s := c.text(MissingTimestamp)
	if s == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateOnly} {
		t, err := time.Parse(layout, s)
		if t = t.UTC(); err == nil && t.Year() >= 1900 && t.Year() <= 9999 {
			return t
		}
	}
	c.fail(InvalidTimestamp, "a date-time as 2026-03-02T15:00:00Z", "%q is not a date-time", s)
	return time.Time{}
}

func (c cursor) projectID() string {
	if id := c.at("projectId").optional(); id != "" {
		return id
	}
	return c.at("projectBrief").at("projectId").optional()
}

// doubts warns of what concerns the document as a whole.
func (c cursor) doubts(d *estimate.Clarification) {
	if d.Status == "needs_review" {
		c.at("clarificationStatus").warn(NeedsReview, "", "the clarification itself asks for review")
	}
	if d.Flags.UserVerification {
		c.at("flags").at("userVerificationRequired").warn(VerificationRequired, "", "the client has still to confirm the scope")
	}
	for _, block := range []struct {
		projectType, key string
		given            bool
	}{
		{"kitchen_remodel", "kitchenSpecific", d.CAD.Kitchen != nil},
		{"bathroom_remodel", "bathroomSpecific", d.CAD.Bathroom != nil},
		{"bedroom_remodel", "bedroomSpecific", d.CAD.Bedroom != nil},
		{"living_room_remodel", "livingAreaSpecific", d.CAD.LivingArea != nil},
	} {
		if cad := c.at("cadData"); d.Brief.ProjectType == block.projectType && !block.given && !cad.absent() {
			cad.at(block.key).warn(MissingSpecific, "", "is missing for a %s", d.Brief.ProjectType)
		}
	}
}

// statuses returns the status of every division of csiScope that is there:
// empty for one that is not legal. It reports nothing.
func (c cursor) statuses() map[string]string {
	quiet := cursor{&log{}, c.path, c.v}
	byCode := map[string]string{}
	for _, d := range catalog.Divisions() {
		if division := quiet.at("csiScope").at(d.Key); kind(division.v) == "an object" {
			byCode[d.Code] = division.at("status").pick(divisionStatuses)
		}
	}
	return byCode
}

func coverage(statuses map[string]string) Coverage {
	v := Coverage{Missing: []string{}}
	for _, d := range catalog.Divisions() {
		status, ok := statuses[d.Code]
		switch {
		case !ok:
			v.Missing = append(v.Missing, d.Key)
		case status == estimate.Included:
			v.Included++
		case status == estimate.Excluded:
			v.Excluded++
		case status == estimate.ByOwner:
			v.ByOwner++
		case status == estimate.NotApplicable:
			v.NotApplicable++
		}
	}
	return v
}
