package planted

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
)

// every is which errors of a table go through the loop; all of them take long.
const every = 3

// The loop of the pipeline: an error in the output of each family, what its
// critic says of it, and the next attempt of its primary.
func TestNextAttemptActsOnTheCritic(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the loop of the pipeline takes long")
	}
	for _, family := range Families() {
		for i, c := range table(t, family) {
			if i%every != 0 || c.Alone || slices.ContainsFunc(c.Edits, func(e Edit) bool { return e.Input }) {
				continue // the error is in the input: no attempt can mend it
			}
			t.Run(family+"/"+c.Name, func(t *testing.T) {
				t.Parallel()
				j := job(t, c.Sample)
				_, bad, wants, err := c.Plant(j, family)
				if err != nil {
					t.Fatal(err)
				}
				raw, err := j.Criticise(t.Context(), family, j.Input[family], bad)
				if err != nil {
					t.Fatal(err)
				}
				var critique agent.Critique
				if err := json.Unmarshal(raw, &critique); err != nil {
					t.Fatal(err)
				}
				critique.PreviousOutput = bad // as the pipeline does
				feedback, err := json.Marshal(critique)
				if err != nil {
					t.Fatal(err)
				}
				mended, err := j.Again(t.Context(), family, feedback)
				if err != nil {
					t.Fatal(err)
				}
				gone(t, j, family, mended, wants, &critique)
			})
		}
	}
}

// gone looks whether the errors are no longer there, and whether the output says
// so for every finding.
func gone(t *testing.T, j *Job, family string, mended json.RawMessage, wants []string, critique *agent.Critique) {
	t.Helper()
	score, after, err := j.Judge(t.Context(), family, j.Input[family], mended)
	if err != nil {
		t.Fatal(err)
	}
	if !score.Passed {
		t.Errorf("score %d of the next attempt, want at least %d: %s", score.Score, agent.PassMark, score.Feedback)
	}
	for _, want := range wants {
		for _, f := range after.Find(want) {
			if f.Fix != agent.AskUser {
				t.Errorf("the next attempt still has %s: %s", f.Path, f.Issue)
			}
		}
	}
	var said struct {
		Revisions []estimate.Revision `json:"revisions"`
	}
	if err := json.Unmarshal(mended, &said); err != nil {
		t.Fatal(err)
	}
	for _, f := range critique.Findings {
		at := slices.IndexFunc(said.Revisions, func(r estimate.Revision) bool { return r.Path == f.Path })
		if at < 0 || strings.TrimSpace(said.Revisions[at].Action) == "" {
			t.Errorf("no revision answers %s: %s", f.Path, f.Issue)
			continue
		}
		action := said.Revisions[at].Action
		was, is := figure(t, critique.PreviousOutput, f.Path), figure(t, mended, f.Path)
		if was != "" && is != "" && was != is && (!strings.Contains(action, was) || !strings.Contains(action, is)) {
			t.Errorf("the revision of %s does not say that it was %s and is %s: %q", f.Path, was, is, action)
		}
	}
}

// figure is the number or word at a path; empty for anything else.
func figure(t *testing.T, doc json.RawMessage, path string) string {
	t.Helper()
	d, err := Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	found, err := d.find(path)
	if err != nil {
		return ""
	}
	switch v := found[0].value.(type) {
	case json.Number:
		x, err := v.Float64()
		if err != nil {
			return ""
		}
		raw, err := json.Marshal(x) // 5.50 and 5.5 are one figure
		if err != nil {
			return ""
		}
		return string(raw)
	case string:
		if len(v) < 60 {
			return v
		}
	}
	return ""
}
