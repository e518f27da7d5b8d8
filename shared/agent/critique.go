package agent

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Critique is the answer of a critic, and the critic_feedback of the next
// attempt. Findings carry what the sentences say in a form code can act on.
type Critique struct {
	Issues         []string        `json:"issues"`
	WhyWrong       string          `json:"why_wrong"`
	HowToFix       []string        `json:"how_to_fix"`
	Suggestions    []string        `json:"suggestions"`
	Priority       string          `json:"priority"` // high, medium, low
	Findings       []Finding       `json:"findings"`
	Score          int             `json:"score"`
	ScorerFeedback string          `json:"scorer_feedback"`
	PreviousOutput json.RawMessage `json:"previous_output,omitempty"` // filled in by the pipeline
}

// Critique puts the findings of a score into words. Findings are never dropped.
func (s *Score) Critique() Critique {
	c := Critique{
		Issues: []string{}, HowToFix: []string{}, Suggestions: []string{}, Findings: s.Findings(),
		Score: s.Score, ScorerFeedback: s.Feedback, Priority: "low",
	}
	switch {
	case s.Score < 60:
		c.Priority = "high"
	case s.Score < PassMark:
		c.Priority = "medium"
	}
	var why []string
	seen := map[string]bool{}
	add := func(list *[]string, text string) {
		if text != "" && !seen[text] {
			seen[text] = true
			*list = append(*list, text)
		}
	}
	for _, f := range c.Findings {
		add(&c.Issues, fmt.Sprintf("%s: %s (found %s, expected %s)", f.Path, f.Issue, f.Observed, f.Expected))
		add(&why, f.Why)
		if f.Fix == AskUser {
			add(&c.Suggestions, f.HowToFix)
		} else {
			add(&c.HowToFix, f.HowToFix)
		}
	}
	c.WhyWrong = strings.Join(why, " ")
	return c
}

// Find returns the findings whose path begins with prefix.
func (c *Critique) Find(prefix string) []Finding {
	if c == nil {
		return nil
	}
	var found []Finding
	for _, f := range c.Findings {
		if strings.HasPrefix(f.Path, prefix) {
			found = append(found, f)
		}
	}
	return found
}
