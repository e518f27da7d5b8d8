package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type out struct{ N int }

func finding(path string) Finding {
	return Finding{Path: path, Observed: "1", Expected: "2", Issue: "It is one.", Why: "Two was wanted.", HowToFix: "Make it two.", Fix: Recompute}
}

func give(g Grade) func(struct{}, *out) Grade { return func(struct{}, *out) Grade { return g } }

func TestJudge(t *testing.T) {
	t.Parallel()
	f := finding("n")
	tests := []struct {
		name   string
		grades []Grade // with the weights 60 and 40
		want   int
	}{
		{"all is well", []Grade{Full(), Full()}, 100},
		{"weights count", []Grade{Full(), Partial(50, f)}, 80},
		{"rounded down", []Grade{Full(), Partial(49, f)}, 79},
		{"a gate is below the pass mark whatever the rest", []Grade{Full(), Gate(f)}, 60},
		{"two gates", []Grade{Gate(f), Gate(f)}, 0},
		{"what is missing caps at 30", []Grade{Full(), Missing(f)}, 30},
		{"a grade beyond its bounds is brought back", []Grade{Partial(900), Partial(-5, f)}, 60},
		{"deductions", []Grade{Full(), Deduct(30, []Finding{f, f})}, 76},
		{"deductions end at zero", []Grade{Full(), Deduct(30, []Finding{f, f, f, f})}, 60},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := Rubric[struct{}, out]{
				{Name: "first", Weight: 60, Check: give(tt.grades[0])},
				{Name: "second", Weight: 40, Check: give(tt.grades[1])},
			}
			s := r.Judge(struct{}{}, &out{})
			if s.Score != tt.want || s.Passed != (tt.want >= PassMark) || len(s.Breakdown) != 2 {
				t.Errorf("Judge = %d, passed %v, %d judgments, want %d", s.Score, s.Passed, len(s.Breakdown), tt.want)
			}
		})
	}
}

func TestACheckThatPanicsFailsTheOutput(t *testing.T) {
	t.Parallel()
	var nothing *out
	r := Rubric[struct{}, out]{
		{Name: "sound", Weight: 90, Check: give(Full())},
		{Name: "reads", Weight: 10, Check: func(struct{}, *out) Grade { return Partial(float64(nothing.N)) }},
	}
	s := r.Judge(struct{}{}, &out{})
	if s.Passed || len(s.Findings()) != 1 {
		t.Errorf("Judge = %+v, want a failure with one finding", s)
	}
	if strings.Contains(s.Feedback, "nil pointer") {
		t.Errorf("the feedback gives the panic away: %s", s.Feedback)
	}
}

func TestCritiqueDropsNothing(t *testing.T) {
	t.Parallel()
	ask := finding("divisions[1]")
	ask.Fix, ask.HowToFix = AskUser, "Ask which."
	r := Rubric[struct{}, out]{
		{Name: "first", Weight: 50, Check: give(Gate(finding("n"), finding("m")))},
		{Name: "second", Weight: 50, Check: give(Partial(50, ask))},
	}
	s := r.Judge(struct{}{}, &out{})
	c := s.Critique()
	if diff := cmp.Diff([]Finding{finding("n"), finding("m"), ask}, c.Findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	want := []string{
		"n: It is one. (found 1, expected 2)", "m: It is one. (found 1, expected 2)", "divisions[1]: It is one. (found 1, expected 2)",
	}
	if diff := cmp.Diff(want, c.Issues); diff != "" {
		t.Errorf("issues (-want +got):\n%s", diff)
	}
	if c.WhyWrong != "Two was wanted." || !cmp.Equal(c.HowToFix, []string{"Make it two."}) || !cmp.Equal(c.Suggestions, []string{"Ask which."}) {
		t.Errorf("why %q, how %q, suggestions %q", c.WhyWrong, c.HowToFix, c.Suggestions)
	}
	if c.Score != s.Score || c.Priority != "high" {
		t.Errorf("score %d, priority %s; want %d, high", c.Score, c.Priority, s.Score)
	}
	if got := c.Find("div"); len(got) != 1 || (*Critique)(nil).Find("div") != nil {
		t.Errorf("Find(div) = %v", got)
	}
}

// Readers in other languages get an empty list, never null.
func TestACleanCritiqueHasAnEmptyListOfFindings(t *testing.T) {
	t.Parallel()
	s := Rubric[struct{}, out]{{Name: "only", Weight: 100, Check: give(Full())}}.Judge(struct{}{}, &out{})
	if c := s.Critique(); c.Findings == nil || len(c.Findings) != 0 {
		t.Errorf("findings = %v, want an empty list", c.Findings)
	}
}
