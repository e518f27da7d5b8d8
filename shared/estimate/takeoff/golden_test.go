package takeoff_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/estimate/takeoff"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

// inputs are the real jobs of the project, by name.
func inputs(t *testing.T) map[string]*estimate.Clarification {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	all := map[string]*estimate.Clarification{}
	for _, f := range files {
		all[strings.TrimSuffix(filepath.Base(f), ".json")] = input(t, f)
	}
	return all
}

func input(t *testing.T, file string) *estimate.Clarification {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, report := intake.Parse(text)
	if len(report.Errors) > 0 {
		t.Fatalf("%s: %+v", file, report)
	}
	return &c
}

// TestMatchesOfRealJobs writes, for a reviewer, which item each line of the real
// jobs became and what the drawing says about its quantity.
func TestMatchesOfRealJobs(t *testing.T) {
	t.Parallel()
	for name, c := range inputs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := takeoff.Take(c, nil)
			file := filepath.Join("testdata", name+".golden")
			got := render(&s)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("Take(%s) (-want +got):\n%s", name, diff)
			}
		})
	}
}

func render(s *estimate.Scope) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nproject %s, finish %s, class %d: %s\ncoverage of codes %.2f, of quantities %.2f, confidence %.2f\n",
		s.Summary, s.ProjectKey, s.Finish, s.Class, s.ClassReason, s.Completeness.CodeCoverage, s.Completeness.ValidationCoverage, s.Confidence)
	for _, d := range s.Divisions {
		if len(d.Items)+len(d.OwnerItems) > 0 {
			fmt.Fprintf(&b, "\n%s %s (%s)\n", d.Code, d.Name, d.Status)
		}
		for _, l := range d.Items {
			fmt.Fprintf(&b, "%-8s %s, %g %s\n         = %s %s, %g %s, %s h/unit, %s, %s %.2f, %s\n",
				l.ID, l.Item, l.Quantity, l.Unit, l.CostCode, l.CodeName, l.TakeoffQty, l.TakeoffUnit, fmt.Sprint(l.HoursPerUnit), l.Trade, l.CodeSource, l.CodeConfidence, l.Validation)
			if l.ValidationNote != "" {
				fmt.Fprintf(&b, "         %s\n", l.ValidationNote)
			}
		}
		for _, o := range d.OwnerItems {
			fmt.Fprintf(&b, "not priced: %s\n", o)
		}
	}
	fmt.Fprintf(&b, "\nwarnings\n%s\nmissing\n%s\nsuggested\n%s\n",
		list(s.Completeness.Warnings), list(s.Completeness.Missing), list(s.Completeness.SuggestedAdditions))
	return b.String()
}

func list(lines []string) string {
	if len(lines) == 0 {
		return "  none"
	}
	return "  " + strings.Join(lines, "\n  ")
}
