package report

import (
	"slices"
	"strings"

	"truecost.dev/shared/fault"
)

// Section names a part of a report.
type Section string

// The sections, in the order of the report.
const (
	Executive   Section = "executive_summary"
	Breakdown   Section = "cost_breakdown"
	Bill        Section = "boq"
	Labor       Section = "labor_analysis"
	Schedule    Section = "schedule"
	Risk        Section = "risk_analysis"
	Assumptions Section = "assumptions"
	Plan        Section = "cad_plan"
)

var (
	contractorSections = []Section{Executive, Breakdown, Bill, Labor, Schedule, Risk, Assumptions, Plan}
	clientSections     = []Section{Executive, Breakdown, Assumptions}
)

// Options of a PDF.
type Options struct {
	Client   bool      // the client's version
	Sections []Section // the sections wanted; empty is all that the version has
}

// sections returns what is printed, in order. A name that does not exist is
// fault.Invalid; so is a choice that leaves nothing.
func (o Options) sections() ([]Section, error) {
	have := contractorSections
	if o.Client {
		have = clientSections
	}
	if len(o.Sections) == 0 {
		return have, nil
	}
	for _, s := range o.Sections {
		if !slices.Contains(contractorSections, s) {
			return nil, fault.New(fault.Invalid, "there is no section %q: there are %s", s, names(contractorSections))
		}
	}
	var chosen []Section
	for _, s := range have {
		if slices.Contains(o.Sections, s) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil, fault.New(fault.Invalid, "a client's report has none of these sections: it has %s", names(clientSections))
	}
	return chosen, nil
}

func names(sections []Section) string {
	var list []string
	for _, s := range sections {
		list = append(list, string(s))
	}
	return strings.Join(list, ", ")
}
