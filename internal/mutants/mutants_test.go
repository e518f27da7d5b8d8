package mutants

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mutant is a change and the tests that must notice it.
type mutant struct {
	name  string
	file  string // from the root of the module
	edits []edit
	pkg   string // whose tests notice, from the root of the module
	run   string // their names, of which a part may be named: Test|Test/part
}

// edit replaces a text that occurs once.
type edit struct{ old, new string }

const root = "../.."

// Every mutant is noticed.
func TestMutants(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds and runs a test for every mutant")
	}
	for _, m := range table {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			out, err := m.test(t, m.overlay(t))
			t.Logf("%s", out)
			switch {
			case broken.MatchString(out), err != nil && !asserted.MatchString(out):
				t.Errorf("no assertion failed, wanted one in %s of %s:\n%s", m.run, m.pkg, out)
			case err == nil:
				t.Errorf("survives %s of %s: write a test that notices it", m.run, m.pkg)
			}
		})
	}
}

var (
	// asserted is how a test says what it found; the frames of a panic look otherwise.
	asserted = regexp.MustCompile(`(?m)^\s+\w+\.go:\d+: `)
	broken   = regexp.MustCompile(`(?m)\[(build|setup) failed\]|^panic: test timed out|no tests to run`)
)

// What is to notice the mutants is green without them.
func TestUnmutated(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("see TestMutants")
	}
	type tests struct{ pkg, part string }
	names := map[tests][]string{}
	for _, m := range table {
		name, part, _ := strings.Cut(m.run, "/")
		names[tests{m.pkg, part}] = append(names[tests{m.pkg, part}], name)
	}
	for of, names := range names {
		t.Run(of.pkg+" "+of.part, func(t *testing.T) {
			t.Parallel()
			all := mutant{pkg: of.pkg, run: strings.TrimSuffix(strings.Join(names, "|")+"/"+of.part, "/")}
			if out, err := all.test(t, ""); err != nil || broken.MatchString(out) {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}

// A name says which mutant it is, and every text is where the table says.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, m := range table {
		if seen[m.name] {
			t.Errorf("%q is there twice", m.name)
		}
		seen[m.name] = true
		t.Run(m.name, func(t *testing.T) { m.overlay(t) })
	}
}

// overlay writes the mutated file and returns what makes the go command take it
// for the real one.
func (m *mutant) overlay(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, e := range m.edits {
		if n := strings.Count(text, e.old); n != 1 {
			t.Fatalf("%s has %d times, wanted once:\n%s", m.file, n, e.old)
		}
		text = strings.Replace(text, e.old, e.new, 1)
	}
	dir := t.TempDir()
	mutated, overlay := filepath.Join(dir, filepath.Base(file)), filepath.Join(dir, "overlay.json")
	write(t, mutated, []byte(text))
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, overlay, replace)
	return overlay
}

func write(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// test runs the tests of the mutant with an overlay, if any. The error says that
// they failed.
func (m *mutant) test(t *testing.T, overlay string) (string, error) {
	t.Helper()
	names, part, _ := strings.Cut(m.run, "/")
	run := "-run=^(" + names + ")$"
	if part != "" {
		run += "/^" + part + "$"
	}
	args := []string{"test", "-count=1", "-vet=off", "-failfast", "-timeout=60s", run}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, "./"+m.pkg)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err
}
