package planted

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"truecost.dev/shared/agent"
)

// least is how many errors the tables must hold in all.
const least = 120

// jobs are the jobs of testdata, each worked once.
var jobs sync.Map

func job(t *testing.T, name string) *Job {
	t.Helper()
	work, _ := jobs.LoadOrStore(name, sync.OnceValues(func() (*Job, error) {
		raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", name+".json"))
		if err != nil {
			return nil, err
		}
		return Work(t.Context(), raw)
	}))
	j, err := work.(func() (*Job, error))()
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func table(t *testing.T, family string) []Case {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", family+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Cases(string(raw))
	if err != nil {
		t.Fatalf("%s: %v", family, err)
	}
	return cases
}

func TestTableIsLongEnough(t *testing.T) {
	t.Parallel()
	all := 0
	for _, family := range Families() {
		n := len(table(t, family))
		t.Logf("%s: %d errors", family, n)
		all += n
	}
	t.Logf("%d errors in all", all)
	if all < least {
		t.Errorf("%d planted errors, want at least %d", all, least)
	}
}

func TestPlantedErrorsFail(t *testing.T) {
	t.Parallel()
	for _, family := range Families() {
		for _, c := range table(t, family) {
			t.Run(family+"/"+c.Name, func(t *testing.T) {
				t.Parallel()
				j := job(t, c.Sample)
				input, output, wants, err := c.Plant(j, family)
				if err != nil {
					t.Fatal(err)
				}
				if string(output) == string(j.Output[family]) && input != nil && len(c.Edits) > 0 && !c.Edits[0].Input {
					t.Fatal("nothing was planted")
				}
				score, critique, err := j.Judge(t.Context(), family, input, output)
				if err != nil {
					t.Fatal(err)
				}
				caught(t, wants, &score, &critique)
			})
		}
	}
}

// caught looks whether the scorer failed an output for what is wrong with it,
// and whether its critic has an answer.
func caught(t *testing.T, wants []string, score *agent.Score, critique *agent.Critique) {
	t.Helper()
	if score.Score >= agent.PassMark || score.Passed {
		t.Errorf("score %d, want below %d: %s", score.Score, agent.PassMark, score.Feedback)
	}
	for _, want := range wants {
		if len(critique.Find(want)) == 0 {
			t.Errorf("no finding at %s: %s", want, paths(critique))
		}
	}
	if critique.WhyWrong == "" || len(critique.Issues) == 0 || len(critique.HowToFix)+len(critique.Suggestions) == 0 {
		t.Errorf("the critic has nothing to say: %+v", critique)
	}
}

func paths(c *agent.Critique) string {
	var all []string
	for _, f := range c.Findings {
		all = append(all, f.Path)
	}
	return strings.Join(all, ", ")
}

func TestDocument(t *testing.T) {
	t.Parallel()
	const before = `{"a":[{"id":"x","n":1.5,"l":[]},{"id":"y","n":2,"l":[1,2]}],"t":"five of ten"}`
	for _, tt := range []struct{ command, path, argument, want string }{
		{"set", "a[1].n", "7", `{"a":[{"id":"x","l":[],"n":1.5},{"id":"y","l":[1,2],"n":7}],"t":"five of ten"}`},
		{"multiply", "a[*].n", "10", `{"a":[{"id":"x","l":[],"n":15},{"id":"y","l":[1,2],"n":20}],"t":"five of ten"}`},
		{"add", "a[id=y].n", "-1", `{"a":[{"id":"x","l":[],"n":1.5},{"id":"y","l":[1,2],"n":1}],"t":"five of ten"}`},
		{"drop", "a[l>0].l[0]", "", `{"a":[{"id":"x","l":[],"n":1.5},{"id":"y","l":[2],"n":2}],"t":"five of ten"}`},
		{"repeat", "a[id~X]", "", `{"a":[{"id":"x","l":[],"n":1.5},{"id":"y","l":[1,2],"n":2},{"id":"x","l":[],"n":1.5}],"t":"five of ten"}`},
		{"swap", "a[0].n", "a[1].n", `{"a":[{"id":"x","l":[],"n":2},{"id":"y","l":[1,2],"n":1.5}],"t":"five of ten"}`},
		{"replace", "t", "ten => six", `{"a":[{"id":"x","l":[],"n":1.5},{"id":"y","l":[1,2],"n":2}],"t":"five of six"}`},
		{"drop", "t", "", `{"a":[{"id":"x","l":[],"n":1.5},{"id":"y","l":[1,2],"n":2}]}`},
	} {
		d, err := Parse([]byte(before))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.edit(tt.command, tt.path, tt.argument); err != nil {
			t.Fatalf("edit(%s %s %s) = %v", tt.command, tt.path, tt.argument, err)
		}
		got, err := d.JSON()
		if err != nil || string(got) != tt.want {
			t.Errorf("edit(%s %s %s) = %s, %v, want %s", tt.command, tt.path, tt.argument, got, err, tt.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s is no JSON", got)
		}
	}
}
