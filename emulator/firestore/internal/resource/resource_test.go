package resource

import (
	"strings"
	"testing"
)

const root = "projects/p/databases/(default)/documents"

func TestNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		document, parent bool // whether it may name one
	}{
		{root, false, true},
		{root + "/c", false, false},
		{root + "/c/1", true, true},
		{root + "/c/1/s", false, false},
		{root + "/c/1/s/2", true, true},
		{root + "/c/__id7__", true, true},
		{root + "/c/__x__", false, false},
		{root + "/__x__/1", false, false},
		{root + "/c/.", false, false},
		{root + "/c/", false, false},
		{root + "//1", false, false},
		{root + "/c/" + strings.Repeat("x", maxID), true, true},
		{root + "/c/" + strings.Repeat("x", maxID+1), false, false},
		{root + strings.Repeat("/c/1", maxDepth), true, true},
		{root + strings.Repeat("/c/1", maxDepth+1), false, false},
		{"projects/p/databases/(default)", false, false},
		{"projects//databases/(default)/documents/c/1", false, false},
		{"c/1", false, false},
		{"", false, false},
	}
	for _, test := range tests {
		if err := CheckDocument(test.name); (err == nil) != test.document {
			t.Errorf("CheckDocument(%.60q) = %v, want ok %t", test.name, err, test.document)
		}
		if err := CheckParent(test.name); (err == nil) != test.parent {
			t.Errorf("CheckParent(%.60q) = %v, want ok %t", test.name, err, test.parent)
		}
	}
}

func FuzzCheckDocument(f *testing.F) {
	for _, s := range []string{root, root + "/c/1", "projects/p", "", "a/b/c/d/e/f/g"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if CheckDocument(s) != nil {
			return
		}
		collection, id := Parent(s)
		if collection+"/"+id != s || CheckID(id) != nil {
			t.Errorf("Parent(%q) = %q, %q", s, collection, id)
		}
		if parent, _ := Parent(collection); CheckParent(parent) != nil {
			t.Errorf("CheckParent(%q) refuses the parent of the document %q", parent, s)
		}
	})
}
