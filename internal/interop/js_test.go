package interop

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// jsCases is how many tests the JavaScript project has at least: fewer would mean
// that they were not found.
const jsCases = 50

var passed = regexp.MustCompile(`(?m)^# pass (\d+)$`)

// TestJavaScriptClient runs the tests under js with the JavaScript client from
// npm, in its present line and in that of A2A 0.3.
func TestJavaScriptClient(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("skipped: there is no node")
	}
	if _, err := os.Stat("js/node_modules"); err != nil {
		t.Skip("skipped: js/node_modules is absent; npm ci in internal/interop/js installs it")
	}
	cmd := exec.CommandContext(t.Context(), node, "--test", "--test-reporter=tap")
	cmd.Dir = "js"
	cmd.Env = append(os.Environ(), "A2A_AGENT="+conformance, "A2A_HOSTING="+hosting)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("node --test: %v\n%s", err, out)
	}
	found := passed.FindSubmatch(out)
	if found == nil {
		t.Fatalf("node --test counted nothing:\n%s", out)
	}
	if n, _ := strconv.Atoi(string(found[1])); n < jsCases {
		t.Errorf("%d JavaScript tests passed, want %d or more:\n%s", n, jsCases, out)
	}
}
