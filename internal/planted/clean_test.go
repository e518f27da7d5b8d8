package planted

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"truecost.dev/shared/agent"
)

// clean looks whether every output of a job passes its scorer, with what the
// agent was given and alone.
func clean(t *testing.T, j *Job) {
	t.Helper()
	for _, family := range Families() {
		for name, input := range map[string]map[string]json.RawMessage{"": j.Input[family], ", alone": nil} {
			s, _, err := j.Judge(t.Context(), family, input, j.Output[family])
			if err != nil {
				t.Fatal(err)
			}
			if s.Score < agent.PassMark || !s.Passed {
				t.Errorf("%s%s: score %d of a clean output, want at least %d: %s", family, name, s.Score, agent.PassMark, s.Feedback)
			}
		}
	}
}

func TestSamplesPass(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("samples: %v, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clean(t, job(t, name))
		})
	}
}

// places of every region, of dear and cheap labor, and of each base of the
// sales tax.
var places = []struct{ city, state, zip string }{
	{"New York", "NY", "10025"},
	{"Atlanta", "GA", "30309"},
	{"Chicago", "IL", "60614"},
	{"Houston", "TX", "77008"},
	{"Phoenix", "AZ", "85016"},
	{"Anchorage", "AK", "99501"},
	{"Honolulu", "HI", "96816"},
	{"Seattle", "WA", "98115"},
}

// Every sample in every place, with another finish and another start: the
// quantities stay, prices and dates move.
func TestSyntheticJobsPass(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("32 whole jobs take long")
	}
	finishes := []string{"budget", "mid_range", "high_end"}
	planted := 0
	for s, name := range []string{"kitchen", "bathroom", "deck", "addition"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		for p, place := range places {
			planted++
			finish := finishes[(s+p)%len(finishes)]
			t.Run(fmt.Sprintf("%s, %s, %s", name, place.city, finish), func(t *testing.T) {
				t.Parallel()
				d, err := Parse(raw)
				if err != nil {
					t.Fatal(err)
				}
				for path, value := range map[string]string{
					"projectBrief.location.city":            place.city,
					"projectBrief.location.state":           place.state,
					"projectBrief.location.zipCode":         place.zip,
					"projectBrief.location.fullAddress":     fmt.Sprintf("1 Main Street, %s, %s %s", place.city, place.state, place.zip),
					"projectBrief.scopeSummary.finishLevel": finish,
					"projectBrief.timeline.desiredStart":    fmt.Sprintf("2026-%02d-02", 1+p),
					"projectBrief.timeline.deadline":        "",
				} {
					argument := fmt.Sprintf("%q", value)
					if value == "" {
						argument = "null"
					}
					if err := d.edit("set", path, argument); err != nil {
						t.Fatal(err)
					}
				}
				clarification, err := d.JSON()
				if err != nil {
					t.Fatal(err)
				}
				j, err := Work(t.Context(), clarification)
				if err != nil {
					t.Fatal(err)
				}
				clean(t, j)
			})
		}
	}
	if planted < 30 {
		t.Errorf("%d synthetic jobs, want at least 30", planted)
	}
}
