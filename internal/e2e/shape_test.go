package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A field is one line of a shape: a path and the kind of what stands there.
type field struct{ path, kind string }

// shape reads testdata/{name}.shape; what its lines mean stands in the files.
func shape(t *testing.T, name string) []field {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".shape"))
	if err != nil {
		t.Fatal(err)
	}
	var fields []field
	for line := range strings.Lines(string(b)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if len(words) != 2 {
			t.Fatalf("%s.shape: %q is no path and kind", name, line)
		}
		for _, path := range expand(words[0]) {
			fields = append(fields, field{path, words[1]})
		}
	}
	if len(fields) == 0 {
		t.Fatalf("%s.shape is empty", name)
	}
	return fields
}

// expand writes out {a,b}.
func expand(path string) []string {
	before, rest, ok := strings.Cut(path, "{")
	if !ok {
		return []string{path}
	}
	names, after, _ := strings.Cut(rest, "}")
	var all []string
	for name := range strings.SplitSeq(names, ",") {
		all = append(all, expand(before+name+after)...)
	}
	return all
}

// misfits returns how a document differs from a shape. It may have more.
func misfits(doc version, fields []field) []string {
	var wrong []string
	for _, f := range fields {
		for _, found := range find(map[string]any(doc), strings.Split(f.path, ".")) {
			if !fits(found, f.kind) {
				wrong = append(wrong, fmt.Sprintf("%s is %s, want %s", f.path, describe(found), f.kind))
				break
			}
		}
	}
	return wrong
}

// absent is found where a document has no such field.
type absent struct{}

// find returns every value at a path.
func find(value any, path []string) []any {
	if len(path) == 0 {
		return []any{value}
	}
	name, each := strings.CutSuffix(path[0], "[]")
	m, ok := value.(map[string]any)
	if !ok {
		return []any{absent{}}
	}
	child, ok := m[name]
	if !ok {
		return []any{absent{}}
	}
	if !each {
		return find(child, path[1:])
	}
	list, _ := child.([]any)
	if len(list) == 0 {
		return []any{absent{}}
	}
	var found []any
	for _, element := range list {
		found = append(found, find(element, path[1:])...)
	}
	return found
}

func fits(value any, kind string) bool {
	if kind, ok := strings.CutSuffix(kind, "?"); ok {
		return value == nil || fits(value, kind)
	}
	switch value.(type) {
	case nil:
		return kind == "null"
	case string:
		return kind == "string"
	case bool:
		return kind == "bool"
	case int64:
		return kind == "int" || kind == "number"
	case float64:
		return kind == "number"
	case time.Time:
		return kind == "time"
	case []any:
		return kind == "list"
	case map[string]any:
		return kind == "object"
	default:
		return false
	}
}

func describe(value any) string {
	switch value.(type) {
	case absent:
		return "not there"
	case nil:
		return "null"
	default:
		return fmt.Sprintf("the %T %.80v", value, value)
	}
}

// unknowable are the members of outputs that may be null: nobody named a
// deadline, and nobody can say what a recommendation saves.
var unknowable = []string{
	"timelineOutput.deadlineMet", "timelineOutput.scheduleMonteCarlo.deadlineProbability", "finalOutput.recommendations[].potentialSavings",
}

// nulls returns the members below a value that are null and may not be: a list
// that is empty is still a list.
func nulls(path string, value any) []string {
	var found []string
	switch v := value.(type) {
	case nil:
		if !slices.Contains(unknowable, path) {
			found = append(found, path+" is null")
		}
	case map[string]any:
		for name, member := range v {
			found = append(found, nulls(path+"."+name, member)...)
		}
	case []any:
		for _, element := range v {
			found = append(found, nulls(path+"[]", element)...)
		}
	}
	return found
}

// A shape must find what is wrong, or it proves nothing.
func TestMisfits(t *testing.T) {
	t.Parallel()
	doc := version{
		"n": int64(1), "x": 1.5, "gone": nil, "empty": []any{},
		"rows": []any{map[string]any{"a": "1", "b": int64(2)}, map[string]any{"a": nil}},
	}
	for path, want := range map[string]map[string]bool{
		"n":        {"int": true, "number": true, "string": false},
		"x":        {"int": false, "number": true},
		"gone":     {"null": true, "string?": true, "string": false},
		"other":    {"null": false, "string?": false},
		"empty":    {"list": true, "object": false},
		"empty[]":  {"string": false},
		"rows[].a": {"string": false, "string?": true},
		"rows[].b": {"int": false},
		"n.m":      {"int": false},
	} {
		for kind, fit := range want {
			if got := misfits(doc, []field{{path, kind}}); (len(got) == 0) != fit {
				t.Errorf("misfits(%s %s) = %q, want a fit: %v", path, kind, got, fit)
			}
		}
	}
	if got := nulls("doc", map[string]any(doc)); len(got) != 2 {
		t.Errorf("nulls = %q, want doc.gone and doc.rows[].a", got)
	}
	if got := expand("{a,b}.c.{d,e}"); strings.Join(got, " ") != "a.c.d a.c.e b.c.d b.c.e" {
		t.Errorf("expand = %q", got)
	}
}
