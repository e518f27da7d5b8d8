package intake

import (
	"regexp"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// ProjectTypes lists the kinds of job of the contract.
func ProjectTypes() []string { return slices.Clone(projectTypes.of) }

var (
	projectTypes = choice{
		of: []string{
			"kitchen_remodel", "bathroom_remodel", "bedroom_remodel", "living_room_remodel", "basement_finish",
			"attic_conversion", "whole_house_remodel", "addition", "deck_patio", "garage", "other",
		},
		code: InvalidProjectType, fallback: "other",
	}
	finishes = choice{
		of:   []string{"budget", "mid_range", "high_end", "luxury"},
		code: InvalidFinishLevel, fallback: "mid_range",
	}
	complexities = choice{
		of:   []string{"simple", "moderate", "complex"},
		code: InvalidComplexity, fallback: "moderate",
	}
	flexibilities = choice{
		of:   []string{"strict", "flexible", "open"},
		code: InvalidFlexibility, fallback: "flexible",
	}
)

// brief reads projectBrief, and what the root says in its place.
func (c cursor) brief(statuses map[string]string) estimate.Brief {
	b := c.at("projectBrief")
	if !b.object(MissingProjectBrief) {
		return estimate.Brief{}
	}
	return estimate.Brief{
		ProjectType:         b.at("projectType").pick(projectTypes),
		ProjectName:         b.first("projectName", "projectTitle").optional(),
		Location:            b.at("location").address(),
		Summary:             b.at("scopeSummary").summary(c.at("cadData").at("spaceModel").at("totalSqft"), statuses),
		Preferences:         c.preferences(),
		Contractor:          c.contractor(),
		SpecialRequirements: b.at("specialRequirements").texts(),
		Exclusions:          b.at("exclusions").texts(),
		Timeline:            b.at("timeline").wishes(c.at("estimateConfiguration").at("projectStartDate")),
		YearBuilt:           b.yearBuilt(),
	}
}

func (c cursor) yearBuilt() int {
	year := c.at("yearBuilt")
	if details := c.at("propertyDetails"); year.absent() && !details.absent() {
		year = details.at("yearBuilt")
	}
	n, ok := parse(year.v)
	if !ok || n < 1600 || n > 2200 {
		return 0 // unknown: the age of the house only refines the estimate
	}
	return int(n)
}

func (c cursor) address() estimate.Address {
	if !c.object(MissingLocation) {
		return estimate.Address{}
	}
	a := estimate.Address{
		Full:        c.at("fullAddress").text(IncompleteLocation),
		Street:      c.at("streetAddress").text(IncompleteLocation),
		Unit:        c.at("unit").optional(),
		City:        c.at("city").text(IncompleteLocation),
		State:       c.at("state").state(),
		Zip:         c.at("zipCode").zip(),
		County:      c.at("county").optional(),
		Coordinates: c.at("coordinates").coordinates(),
	}
	if len(a.Zip) == 5 && a.State != "" {
		p := catalog.PrefixByZip3(a.Zip[:3])
		switch zip := c.at("zipCode"); {
		case p == nil:
			zip.warn(ZipStateMismatch, "a ZIP code in use", "no ZIP code begins with %s", a.Zip[:3])
		case p.State != a.State:
			zip.warn(ZipStateMismatch, "a ZIP code of "+a.State, "%s is in %s, not in %s", a.Zip, p.State, a.State)
		}
	}
	return a
}

var twoLetters = regexp.MustCompile(`^[A-Z]{2}$`)

// state returns two capitals; the full name of a state is read too.
func (c cursor) state() string {
	s := c.text(IncompleteLocation)
	upper := strings.ToUpper(s)
	if s == "" || twoLetters.MatchString(upper) {
		return upper
	}
	for _, st := range catalog.States() {
		if strings.EqualFold(st.Name, s) {
			return st.Abbr
		}
	}
	c.fail(InvalidState, "two letters, as CO", "%q is not a state", s)
	return ""
}

var zipPattern = regexp.MustCompile(`^(\d{5})([- ]?\d{4})?$`)

// zip returns five digits. A number has lost its leading zeros, which return.
func (c cursor) zip() string {
	s := c.text(IncompleteLocation)
	if !isString(c.v) && s != "" && len(s) < 5 {
		s = strings.Repeat("0", 5-len(s)) + s
	}
	m := zipPattern.FindStringSubmatch(s)
	if m == nil {
		if s != "" {
			c.fail(InvalidZip, "five digits, as 80202", "%q is not a ZIP code", s)
		}
		return ""
	}
	return m[1]
}

// coordinates are a refinement: bad ones are left out with a warning.
func (c cursor) coordinates() *estimate.Coordinates {
	if c.absent() {
		return nil
	}
	lat, okLat := parse(c.first("lat", "latitude").v)
	lng, okLng := parse(c.first("lng", "lon", "longitude").v)
	if !okLat || !okLng || lat < -90 || lat > 90 || lng < -180 || lng > 180 {
		c.warn(InvalidCoordinates, "{lat, lng} in degrees", "cannot be used and is left out")
		return nil
	}
	return &estimate.Coordinates{Lat: lat, Lng: lng}
}

// summary reads scopeSummary. measured is the floor area of the drawing, which
// stands in for a bad totalSqft.
func (c cursor) summary(measured cursor, statuses map[string]string) estimate.Summary {
	if !c.object(MissingField) {
		return estimate.Summary{}
	}
	return estimate.Summary{
		Description:   c.at("description").text(MissingField),
		Sqft:          c.at("totalSqft").sqft(measured),
		Rooms:         c.at("rooms").texts(),
		Finish:        c.at("finishLevel").pick(finishes),
		Complexity:    c.at("projectComplexity").pick(complexities),
		Included:      c.at("includedDivisions").divisions(estimate.Included, statuses),
		Excluded:      c.at("excludedDivisions").divisions(estimate.Excluded, statuses),
		ByOwner:       c.at("byOwnerDivisions").divisions(estimate.ByOwner, statuses),
		NotApplicable: c.at("notApplicableDivisions").divisions(estimate.NotApplicable, statuses),
		TotalIncluded: c.at("totalIncluded").total(statuses, func(v Coverage) []int { return []int{v.Included} }),
		// Both readings are in use: the divisions excluded, and all that are not included.
		TotalExcluded: c.at("totalExcluded").total(statuses, func(v Coverage) []int {
			return []int{v.Excluded, v.Excluded + v.ByOwner + v.NotApplicable}
		}),
	}
}

func (c cursor) sqft(measured cursor) float64 {
	f, ok := parse(c.v)
	switch {
	case !c.absent() && kind(c.v) != "a number" && !isString(c.v):
		c.wrongType(measure.String())
	case ok && f >= measure.min && f <= measure.max:
		return f
	default:
		instead, ok := parse(measured.v)
		if !ok || instead < measure.min || instead > measure.max {
			instead = 0
		}
		c.warn(InvalidSqft, measure.String(), "is not an area; %s sf of the drawing are used", format(instead))
		return instead
	}
	return 0
}

// wishes reads the timeline. configured is the start of estimateConfiguration,
// used when the brief has none.
func (c cursor) wishes(configured cursor) estimate.Wishes {
	if !c.object(MissingField) {
		return estimate.Wishes{}
	}
	w := estimate.Wishes{
		Start:       c.at("desiredStart").date(),
		Deadline:    c.at("deadline").date(),
		Flexibility: c.at("flexibility").pick(flexibilities),
	}
	if c.at("desiredStart").absent() {
		w.Start = configured.date()
	}
	if w.Start != nil && w.Deadline != nil && w.Deadline.Before(w.Start.Time) {
		c.at("deadline").warn(DeadlineBefore, "a day after "+w.Start.String(), "%s lies before the desired start", w.Deadline)
	}
	return w
}
