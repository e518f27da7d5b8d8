package scope

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/takeoff"
)

// reviewed is what the findings of a critic ask of the lines.
type reviewed struct {
	findings    []agent.Finding
	lines       []string // id of the line each finding is about, or ""
	before      map[string]string
	corrections map[string]takeoff.Correction
	asked       bool // something only a person can settle
}

// linePath is the path of a finding about a line.
var linePath = regexp.MustCompile(`^divisions\[(\d+)\]\.lineItems\[(\d+)\](?:\.(\w+))?`)

// review turns findings into corrections. Paths count lines of the output that
// was judged; where the feedback does not carry it, of the output that a first
// attempt makes, which is the same.
func review(c *estimate.Clarification, feedback *agent.Critique) reviewed {
	r := reviewed{findings: feedback.Findings, before: map[string]string{}, corrections: map[string]takeoff.Correction{}}
	var judged estimate.Scope
	if len(feedback.PreviousOutput) == 0 || json.Unmarshal(feedback.PreviousOutput, &judged) != nil {
		judged = takeoff.Take(c, nil)
	}
	for _, f := range feedback.Findings {
		line, member := locate(&judged, f.Path)
		if f.Fix == agent.AskUser {
			r.asked = true
		}
		if line == nil {
			r.lines = append(r.lines, "")
			continue
		}
		r.lines = append(r.lines, line.ID)
		r.before[line.ID] = line.CostCode
		r.corrections[line.ID] = correct(r.corrections[line.ID], f, line, member)
	}
	return r
}

// correct adds to the correction of a line what one finding asks.
func correct(k takeoff.Correction, f agent.Finding, line *estimate.ScopeLine, member string) takeoff.Correction {
	switch {
	case f.Fix == agent.AskUser:
		k.Verify, k.Reason = true, f.Issue
	case f.Fix == agent.Relookup && catalog.IsDefaultCode(line.CostCode):
		k.Wider = true
	case f.Fix == agent.Relookup && member == "costCode" && !slices.Contains(k.Avoid, line.CostCode):
		k.Avoid = append(k.Avoid, line.CostCode)
	}
	return k
}

// locate returns the line a path leads to, and the member after it.
func locate(s *estimate.Scope, path string) (line *estimate.ScopeLine, member string) {
	m := linePath.FindStringSubmatch(path)
	if m == nil {
		return nil, ""
	}
	d, errD := strconv.Atoi(m[1])
	l, errL := strconv.Atoi(m[2])
	if errD != nil || errL != nil || d >= len(s.Divisions) || l >= len(s.Divisions[d].Items) {
		return nil, ""
	}
	return &s.Divisions[d].Items[l], m[3]
}

// revisions says what became of each finding.
func (r *reviewed) revisions(out *estimate.Scope) []estimate.Revision {
	after := map[string]string{}
	for i := range out.Divisions {
		for j := range out.Divisions[i].Items {
			after[out.Divisions[i].Items[j].ID] = out.Divisions[i].Items[j].CostCode
		}
	}
	var done []estimate.Revision
	for i, f := range r.findings {
		done = append(done, estimate.Revision{Path: f.Path, Action: r.action(f, r.lines[i], after)})
	}
	return done
}

func (r *reviewed) action(f agent.Finding, id string, after map[string]string) string {
	was, is := r.before[id], after[id]
	switch {
	case f.Fix == agent.AskUser && id != "":
		return "the line is marked for verification: " + f.HowToFix
	case f.Fix == agent.AskUser:
		return "left as it is and marked for review: " + f.HowToFix
	case f.Fix == agent.Relookup && id != "" && was != is:
		return fmt.Sprintf("looked up again: %s in place of %s", is, was)
	case f.Fix == agent.Relookup && id != "":
		return fmt.Sprintf("looked up again: nothing in the catalogue is nearer than %s", is)
	default:
		return "computed again from the input and the catalogue"
	}
}
