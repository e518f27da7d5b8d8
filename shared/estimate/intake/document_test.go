package intake

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// document returns a real input as a tree that a test may change.
func document(tb rapid.TB, name string) map[string]any {
	tb.Helper()
	var doc map[string]any
	if err := json.Unmarshal(fixture(tb, name), &doc); err != nil {
		tb.Fatal(err)
	}
	return doc
}

// remove, as a value, takes the member away.
type remove struct{}

// set puts value at path, as csiScope.div09_finishes.items[2].unit.
func set(tb rapid.TB, doc map[string]any, path string, value any) {
	tb.Helper()
	var at any = doc
	keys := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
	for i, key := range keys {
		last := i == len(keys)-1
		switch node := at.(type) {
		case map[string]any:
			if last && value == (remove{}) {
				delete(node, key)
			} else if last {
				node[key] = value
			}
			at = node[key]
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n >= len(node) {
				tb.Fatalf("%s: no element %s", path, key)
			}
			if last {
				node[n] = value
			}
			at = node[n]
		default:
			tb.Fatalf("%s: nothing at %s", path, key)
		}
	}
}

func written(tb rapid.TB, doc any) []byte {
	tb.Helper()
	b, err := json.Marshal(doc)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// changed returns the real input name with each path set.
func changed(tb rapid.TB, name string, changes map[string]any) []byte {
	tb.Helper()
	doc := document(tb, name)
	for path, value := range changes {
		set(tb, doc, path, value)
	}
	return written(tb, doc)
}

// codes lists problems as "path CODE".
func codes(problems []Problem) []string {
	list := []string{}
	for _, p := range problems {
		list = append(list, p.Path+" "+p.Code)
	}
	return list
}

// Every file of testdata/bad has one fault; the file .want beside it names path
// and code. Nothing else may be reported.
func TestParseBadInputs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(testdata + "/bad/*.json")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d bad inputs: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(strings.TrimSuffix(file, "json") + "want")
			if err != nil {
				t.Fatal(err)
			}
			_, report := Parse(fixture(t, filepath.Join("bad", filepath.Base(file))))
			if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(want)), "\n"), codes(report.Errors)); diff != "" {
				t.Errorf("Parse(%s) errors (-want +got):\n%s", filepath.Base(file), diff)
			}
			for _, p := range report.Errors {
				if p.Message == "" {
					t.Errorf("%s has no message", p.Path)
				}
			}
		})
	}
}
