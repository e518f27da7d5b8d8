package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// fence is a block of the guide.
var fence = regexp.MustCompile("(?ms)^```(sh|json|text)\n(.*?)^```$")

// TestGuide runs the commands of docs/agents.md in their order and holds the
// answers to what is printed below each.
func TestGuide(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: there is no %s", tool)
		}
	}
	raw, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := fence.FindAllStringSubmatch(string(raw), -1)
	ran := 0
	for i := 0; i+1 < len(blocks); i++ {
		command, want := blocks[i], blocks[i+1]
		if command[1] != "sh" || want[1] == "sh" {
			continue // where the variables are set
		}
		ran++
		got := answer(t, command[2])
		if want[1] == "text" {
			wantLines(t, command[2], want[2], got)
			continue
		}
		var wanted, given any
		if err := json.Unmarshal([]byte(want[2]), &wanted); err != nil {
			t.Fatalf("the guide has no JSON below\n%s\n%v", command[2], err)
		}
		if err := json.Unmarshal([]byte(got), &given); err != nil {
			t.Fatalf("no JSON but %s\nanswers\n%s", got, command[2])
		}
		if miss := missing("", wanted, given); miss != "" {
			t.Errorf("%s\nin the answer to\n%s\nwhich is %.2000s", miss, command[2], got)
		}
	}
	if ran < 8 {
		t.Errorf("%d commands were run, want those of the whole guide", ran)
	}
}

func answer(t *testing.T, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "AGENTS="+functions, "HOSTING="+hosting)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, command)
	}
	return string(out)
}

// loose turns text with … for anything into an expression.
func loose(s string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(s), "…", ".*") + "$")
}

// wantLines holds the lines of an answer to those that are wanted, in their order.
func wantLines(t *testing.T, command, want, got string) {
	t.Helper()
	lines := strings.Split(got, "\n")
	for line := range strings.Lines(want) {
		expr := loose(strings.TrimSuffix(line, "\n"))
		for len(lines) > 0 && !expr.MatchString(lines[0]) {
			lines = lines[1:]
		}
		if len(lines) == 0 {
			t.Errorf("no line %s in the answer to\n%s\nwhich is\n%.3000s", line, command, got)
			return
		}
		lines = lines[1:]
	}
}

// missing says what of a wanted value is not in the one that was given; "" when
// all of it is. Elements of a list are looked for in any place.
func missing(path string, wanted, given any) string {
	switch w := wanted.(type) {
	case map[string]any:
		g, _ := given.(map[string]any)
		for name, v := range w {
			if miss := missing(path+"."+name, v, g[name]); miss != "" {
				return miss
			}
		}
		return ""
	case []any:
		g, _ := given.([]any)
		for i, v := range w {
			found := false
			for _, e := range g {
				found = found || missing("", v, e) == ""
			}
			if !found {
				return fmt.Sprintf("%s[%d]: no element like %v", path, i, v)
			}
		}
		return ""
	case string:
		if g, ok := given.(string); ok && loose(w).MatchString(g) {
			return ""
		}
	default:
		if wanted == given {
			return ""
		}
	}
	return fmt.Sprintf("%s: %v, want %v", path, given, wanted)
}
