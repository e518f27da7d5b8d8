package agent

import (
	"fmt"
	"math"
	"strings"
)

// PassMark is the score from which an output is good enough.
const PassMark = 80

// Criterion is one objective check of an output.
type Criterion[In, Out any] struct {
	Name   string // as in the published breakdown: labor_rates_completeness
	Weight int    // the weights of a rubric sum to 100
	Check  func(in In, out *Out) Grade
}

// Grade is the result of one check.
type Grade struct {
	Score    float64 // 0–100
	Cap      float64 // the most the whole output may score; 100 when the check found nothing grave
	Findings []Finding
}

// Full is the grade of a check that found nothing.
func Full() Grade { return Grade{Score: 100, Cap: 100} }

// Partial is the grade of a check that found something short of grave.
func Partial(score float64, findings ...Finding) Grade {
	return Grade{Score: score, Cap: 100, Findings: findings}
}

// Gate is the grade of a hard failure: the check scores nothing and the whole
// output cannot reach the pass mark, whatever else is right with it.
func Gate(findings ...Finding) Grade { return Grade{Cap: 60, Findings: findings} }

// Missing is the grade of an output whose core is absent: at most 30 in all.
func Missing(findings ...Finding) Grade { return Grade{Cap: 30, Findings: findings} }

// Deduct grades a list of findings: full marks less each per finding, not below
// zero.
func Deduct(each float64, findings []Finding) Grade {
	return Grade{Score: math.Max(0, 100-each*float64(len(findings))), Cap: 100, Findings: findings}
}

// Fix says who can mend a finding, and how.
type Fix string

// The ways to mend.
const (
	Recompute Fix = "recompute" // the primary computed wrongly
	Relookup  Fix = "relookup"  // another catalogue entry or source is needed
	AskUser   Fix = "ask_user"  // only a person knows
)

// Finding is one thing wrong with an output, precise enough for code to act on.
type Finding struct {
	Path     string `json:"path"`     // divisions[3].lineItems[2].laborHours
	Observed string `json:"observed"` // what stands there
	Expected string `json:"expected"` // what was wanted
	Issue    string `json:"issue"`    // what is wrong, in a sentence
	Why      string `json:"why"`      // why it matters, in a sentence
	HowToFix string `json:"how_to_fix"`
	Fix      Fix    `json:"fix"`
}

// Score is the answer of a scorer.
type Score struct {
	Score     int        `json:"score"` // 0–100, rounded down
	Passed    bool       `json:"passed"`
	Feedback  string     `json:"feedback"`
	Breakdown []Judgment `json:"breakdown"`
}

// Judgment is a criterion applied.
type Judgment struct {
	Criterion string    `json:"criterion"`
	Weight    int       `json:"weight"`
	Score     float64   `json:"score"`
	MaxScore  float64   `json:"max_score"`
	Feedback  string    `json:"feedback"`
	Findings  []Finding `json:"findings"`
}

// Rubric is the list of checks of a family.
type Rubric[In, Out any] []Criterion[In, Out]

// Judge applies every check. The score is the weighted mean, rounded down, and
// never above the lowest cap of a check. A check that panics on a malformed
// output is a hard failure of that output, not of the scorer.
func (r Rubric[In, Out]) Judge(in In, out *Out) Score {
	total, weights, limit := 0.0, 0, 100.0
	var s Score
	for _, c := range r {
		g := safely(func() Grade { return c.Check(in, out) })
		g.Score = math.Min(100, math.Max(0, g.Score))
		total += float64(c.Weight) * g.Score
		weights += c.Weight
		limit = math.Min(limit, g.Cap)
		s.Breakdown = append(s.Breakdown, Judgment{
			Criterion: c.Name, Weight: c.Weight, Score: math.Round(g.Score*10) / 10, MaxScore: 100,
			Feedback: said(g), Findings: append([]Finding{}, g.Findings...),
		})
	}
	if weights > 0 {
		s.Score = int(math.Min(limit, total/float64(weights)) + 1e-9)
	}
	s.Passed = s.Score >= PassMark
	s.Feedback = s.words()
	return s
}

func safely(check func() Grade) (g Grade) {
	defer func() {
		if p := recover(); p != nil {
			g = Gate(Finding{
				Path: "$", Observed: "a shape the check cannot read", Expected: "a complete output",
				Issue: "The output is malformed.", Why: "What cannot be read cannot be trusted.",
				HowToFix: "Produce every required member.", Fix: Recompute,
			})
		}
	}()
	return check()
}

func said(g Grade) string {
	if len(g.Findings) == 0 {
		if g.Score >= 100 {
			return "ok"
		}
		return fmt.Sprintf("%.0f of 100", g.Score)
	}
	issues := make([]string, 0, 3)
	for _, f := range g.Findings[:min(3, len(g.Findings))] {
		issues = append(issues, f.Issue)
	}
	if more := len(g.Findings) - len(issues); more > 0 {
		issues = append(issues, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(issues, " ")
}

func (s *Score) words() string {
	band := "not acceptable"
	switch {
	case s.Score >= 90:
		band = "excellent"
	case s.Score >= 80:
		band = "good"
	case s.Score >= 70:
		band = "needs work"
	case s.Score >= 60:
		band = "weak"
	}
	var bad []string
	for _, j := range s.Breakdown {
		if len(j.Findings) > 0 {
			bad = append(bad, j.Criterion+": "+j.Feedback)
		}
	}
	if len(bad) == 0 {
		return fmt.Sprintf("%d of 100, %s.", s.Score, band)
	}
	return fmt.Sprintf("%d of 100, %s. %s", s.Score, band, strings.Join(bad, " "))
}

// Findings returns every finding, in the order of the rubric.
func (s *Score) Findings() []Finding {
	all := []Finding{}
	for _, j := range s.Breakdown {
		all = append(all, j.Findings...)
	}
	return all
}
