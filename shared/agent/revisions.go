package agent

import (
	"encoding/json"
	"strconv"
	"strings"

	"truecost.dev/shared/estimate"
)

// Revisions says, for every finding of feedback, what the figure was in the
// previous output and what it is in the new one. It is for primaries that answer
// feedback by computing again: a figure that did not change is said not to have
// changed, and a finding that needs a person is left to one.
func Revisions(feedback *Critique, now json.RawMessage) []estimate.Revision {
	if feedback == nil {
		return nil
	}
	out := []estimate.Revision{}
	for _, f := range feedback.Findings {
		was, is := valueAt(feedback.PreviousOutput, f.Path), valueAt(now, f.Path)
		if was == "" {
			was = f.Observed
		}
		r := estimate.Revision{Path: f.Path}
		switch {
		case f.Fix == AskUser:
			r.Action = "left to a person and marked for review: " + f.HowToFix
		case is == "":
			r.Action = "computed again; " + f.Path + " is no longer a single figure"
		case is == was:
			r.Action = "computed again from the same inputs, with the same result: " + brief(is)
		default:
			r.Action = "computed again: was " + brief(was) + ", is " + brief(is)
		}
		out = append(out, r)
	}
	return out
}

// Tell adds to what a primary did about each finding of feedback, in their order,
// what the figure was in the previous output and what it is now, where it
// changed.
func Tell(feedback *Critique, now json.RawMessage, done []estimate.Revision) []estimate.Revision {
	for i, f := range feedback.Findings[:min(len(done), len(feedback.Findings))] {
		was, is := valueAt(feedback.PreviousOutput, f.Path), valueAt(now, f.Path)
		if was != "" && is != "" && was != is {
			done[i].Action = strings.TrimSuffix(done[i].Action, ".") + ": was " + brief(was) + ", is " + brief(is)
		}
	}
	return done
}

// valueAt returns the JSON at a path as divisions[3].lineItems[2].laborHours,
// compact; empty when there is none.
func valueAt(doc json.RawMessage, path string) string {
	var v any
	if len(doc) == 0 || json.Unmarshal(doc, &v) != nil {
		return ""
	}
	for _, step := range strings.FieldsFunc(strings.TrimPrefix(path, "$"), func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return ""
			}
			v = at[i]
		default:
			return ""
		}
	}
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
