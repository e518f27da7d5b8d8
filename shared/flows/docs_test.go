package flows_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/chart"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/flows"
)

var update = flag.Bool("update", false, "rewrite the examples that are generated, and the drawings")

const docs = "../../docs"

// examples are the flows that the documentation shows, with the agents they
// need: docs/flows/{name}.json and .svg.
var examples = map[string][]string{
	"estimate":  estimateAgents(),
	"anomalies": {"ingestor", "profiler", "detector", "explainer", "grounding_scorer", "grounding_critic", "reporter"},
	"component": {"designer", "builder", "compiler", "fixer", "publisher"},
}

func estimateAgents() []string {
	var names []string
	for _, name := range estimate.Agents {
		names = append(names, name, name+"_scorer", name+"_critic")
	}
	return names
}

// golden compares with a file, or rewrites it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what it should be: run the test with -update and read the diff", file)
	}
}

var nanoseconds = regexp.MustCompile(`"(budget|timeout|base|cap)": (\d+)`)

// written is a flow as a person writes it: durations are texts.
func written(t *testing.T, f *engine.Flow) []byte {
	t.Helper()
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(nanoseconds.ReplaceAllFunc(b, func(member []byte) []byte {
		name, n, _ := strings.Cut(string(member), ": ")
		ns, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		text := time.Duration(ns).String()
		for _, zero := range []string{"m0s", "h0m"} {
			if strings.HasSuffix(text, zero) {
				text = text[:len(text)-2]
			}
		}
		return []byte(name + `: "` + text + `"`)
	}), '\n')
}

// Not parallel with TestExamples: it writes what that one reads.
func TestEstimateExample(t *testing.T) {
	p, err := flows.Estimate(flows.Options{PassScore: 80, MaxRetries: 2, AgentTime: 5 * time.Minute, RunTime: time.Hour, RetryPause: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join(docs, "flows", "estimate.json"), written(t, p.Flow))
	read, err := engine.Parse(written(t, p.Flow))
	if err != nil || read.Hash() != p.Flow.Hash() {
		t.Errorf("the example has the hash %v, %v, want that of the flow %s", read.Hash(), err, p.Flow.Hash())
	}
}

func TestExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(docs, "flows", "*.json"))
	if err != nil || len(files) != len(examples) {
		t.Fatalf("examples = %v, %v, want %d", files, err, len(examples))
	}
	page := read(t, "flows.md")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := engine.Parse(b)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		agents := map[string]bool{}
		for _, agent := range examples[name] {
			agents[agent] = true
		}
		if err := flows.Check(f, agents); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if got := f.Agents(); len(got) != len(agents) {
			t.Errorf("%s calls %v, want exactly %v", file, got, examples[name])
		}
		golden(t, filepath.Join(docs, "flows", name+".svg"), chart.Flow(f))
		for _, link := range []string{"flows/" + name + ".json", "flows/" + name + ".svg"} {
			if !strings.Contains(page, "("+link+")") {
				t.Errorf("flows.md does not show %s", link)
			}
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(docs, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	heading = regexp.MustCompile("(?m)^### .*$")
	member  = regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|")
)

// Every member of a flow has a row in the section of its type, and no row is
// left of a member that is gone.
func TestMembersAreDocumented(t *testing.T) {
	t.Parallel()
	page := read(t, "flows.md")
	for title, of := range map[string]any{
		"### The flow": engine.Flow{}, "### A node": engine.Node{}, "### `retry`": engine.Retry{}, "### `gate`": engine.Gate{},
		"### `when`": engine.Condition{}, "### `fanOut`": engine.FanOut{}, "### `pause`": engine.Pause{},
	} {
		_, section, found := strings.Cut(page, "\n"+title+"\n")
		if !found {
			t.Errorf("flows.md has no section %q", title)
			continue
		}
		if end := heading.FindStringIndex(section); end != nil {
			section = section[:end[0]]
		}
		var rows []string
		for _, m := range member.FindAllStringSubmatch(section, -1) {
			rows = append(rows, m[1])
		}
		var tags []string
		for field := range reflect.TypeOf(of).Fields() {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			tags = append(tags, tag)
		}
		slices.Sort(rows)
		slices.Sort(tags)
		if !slices.Equal(rows, tags) {
			t.Errorf("%s describes %v, want %v", title, rows, tags)
		}
	}
}
