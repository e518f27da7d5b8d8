package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/synthesis"
	"truecost.dev/shared/fault"
)

// Document is estimates/{id} as far as reports read it. A member that is nil or
// empty is not in the document, or not readable.
type Document struct {
	ID          string `json:"estimateId"`
	ProjectName string `json:"projectName"`
	Address     string `json:"address"`
	ProjectType string `json:"projectType"`
	Scope       string `json:"scope"`

	Sqft        *float64     `json:"squareFootage"`
	TotalCost   *money.Cents `json:"totalCost"`
	ClientTotal *money.Cents `json:"clientTotal"`
	P50         *money.Cents `json:"p50"`
	P80         *money.Cents `json:"p80"`
	P90         *money.Cents `json:"p90"`
	Weeks       *float64     `json:"timelineWeeks"`

	Labor       *estimate.RootLabor       `json:"laborAnalysis"`
	Schedule    *schedule                 `json:"schedule"`
	Breakdown   *estimate.RootBreakdown   `json:"cost_breakdown"`
	RootRisk    *estimate.RootRisk        `json:"risk_analysis"`
	Bill        *estimate.RootBill        `json:"bill_of_quantities"`
	Assumptions *estimate.RootAssumptions `json:"assumptions"`
	CAD         *estimate.CAD             `json:"cad_data"`

	Location *estimate.Location `json:"locationOutput"`
	Taken    *estimate.Scope    `json:"scopeOutput"`
	Cost     *estimate.Cost     `json:"costOutput"`
	Risk     *estimate.Risk     `json:"riskOutput"`
	Timeline *estimate.Timeline `json:"timelineOutput"`
	Final    *estimate.Final    `json:"finalOutput"`
}

// Read takes the document of an estimate, any generation of it. A member of
// another shape than ours is left out, as if it were missing; only what is no
// JSON object is refused.
func Read(raw []byte) (*Document, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, fault.Wrap(fault.Invalid, err, "the document of the estimate is no JSON object")
	}
	d := &Document{}
	take(members, "estimateId", &d.ID)
	take(members, "projectName", &d.ProjectName)
	take(members, "address", &d.Address)
	take(members, "projectType", &d.ProjectType)
	take(members, "scope", &d.Scope)
	take(members, "squareFootage", &d.Sqft)
	take(members, "totalCost", &d.TotalCost)
	take(members, "clientTotal", &d.ClientTotal)
	take(members, "p50", &d.P50)
	take(members, "p80", &d.P80)
	take(members, "p90", &d.P90)
	take(members, "timelineWeeks", &d.Weeks)
	take(members, "laborAnalysis", &d.Labor)
	take(members, "schedule", &d.Schedule)
	take(members, "cost_breakdown", &d.Breakdown)
	take(members, "risk_analysis", &d.RootRisk)
	take(members, "bill_of_quantities", &d.Bill)
	take(members, "assumptions", &d.Assumptions)
	take(members, "cad_data", &d.CAD)
	take(members, "locationOutput", &d.Location)
	take(members, "scopeOutput", &d.Taken)
	take(members, "costOutput", &d.Cost)
	take(members, "riskOutput", &d.Risk)
	take(members, "timelineOutput", &d.Timeline)
	take(members, "finalOutput", &d.Final)
	if d.Final != nil {
		d.ID = cmp.Or(d.ID, d.Final.EstimateID)
	}
	d.rebuild()
	return d, nil
}

// rebuild fills in the members of the root that were too large for the document,
// from the outputs they were made of.
func (d *Document) rebuild() {
	if d.Cost == nil || d.Final == nil || len(d.Cost.Divisions) == 0 {
		return
	}
	root := synthesis.Root(estimate.Context{
		EstimateID: d.ID, Location: d.Location, Scope: d.Taken, Cost: d.Cost, Risk: d.Risk, Timeline: d.Timeline,
	}, *d.Final)
	d.Labor = cmp.Or(d.Labor, &root.Labor)
	d.Breakdown = cmp.Or(d.Breakdown, &root.Breakdown)
	d.Bill = cmp.Or(d.Bill, &root.Bill)
	d.RootRisk = cmp.Or(d.RootRisk, &root.Risk)
	d.Assumptions = cmp.Or(d.Assumptions, &root.Assumptions)
}

// take reads a member, or leaves into as it is when it cannot be read. What is
// too large for the document is a reference, {"truncated": true, …}.
func take[T any](members map[string]json.RawMessage, name string, into *T) {
	raw := members[name]
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return
	}
	var reference struct {
		Truncated bool `json:"truncated"`
	}
	if json.Unmarshal(raw, &reference) == nil && reference.Truncated {
		return
	}
	var v T
	if json.Unmarshal(raw, &v) == nil {
		*into = v
	}
}

// Total is the one total: clientTotal; of documents without it p80, else
// totalCost. It is nil when the estimate has none.
func (d *Document) Total() *money.Cents {
	return cmp.Or(d.ClientTotal, d.P80, d.TotalCost)
}

// Date is when the estimate was made; the zero time when the document does
// not say.
func (d *Document) Date() time.Time {
	if d.Final == nil {
		return time.Time{}
	}
	return d.Final.GeneratedAt.UTC()
}

// schedule is RootSchedule in every spelling that documents have: older ones
// write a duration as "1 week" and a start as "Week 2".
type schedule struct {
	Weeks loose  `json:"total_weeks"`
	Start loose  `json:"start_date"`
	End   loose  `json:"end_date"`
	Tasks []task `json:"tasks"`
	Days  []struct {
		Name loose `json:"name"`
		Date loose `json:"date"`
	} `json:"milestones"`
	Notes []string `json:"notes"`
}

// task is RootTask.
type task struct {
	Number    loose `json:"number"`
	Name      loose `json:"name"`
	Duration  loose `json:"duration"`
	Start     loose `json:"start"`
	End       loose `json:"end"`
	Milestone bool  `json:"is_milestone"`
}

// loose is a text, or a number or anything else as it is written.
type loose string

// UnmarshalJSON reads any JSON value; null is empty.
func (l *loose) UnmarshalJSON(b []byte) error {
	var s string
	switch {
	case bytes.Equal(b, []byte("null")):
		*l = ""
	case json.Unmarshal(b, &s) == nil:
		*l = loose(s)
	default:
		*l = loose(b)
	}
	return nil
}
