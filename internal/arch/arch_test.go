// Package arch proves the shape of the house: who may import whom, and a few
// habits that a compiler does not check. It parses the files itself instead of
// asking the go command, so that the test cache knows its inputs.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "truecost.dev"

var anything = []string{"*"}

// in lists packages of this module.
func in(paths ...string) []string {
	for i, p := range paths {
		paths[i] = module + "/" + p
	}
	return paths
}

// sdk is the A2A SDK's types and the ids its protocol asks for.
var sdk = []string{"github.com/a2aproject/a2a-go/v2/a2a", "github.com/google/uuid"}

// rules say which imports besides the standard library a file may have. The
// first rule whose prefix fits a file counts.
var rules = []struct {
	file string
	may  []string
}{
	{"shared/fault/", nil},
	{"shared/engine/", in("shared/fault")},
	{"shared/estimate/money/", nil},
	{"shared/estimate/stat/", nil},
	{"shared/estimate/formula/", nil},
	{"shared/estimate/catalog/", in("shared/estimate")},
	{"shared/estimate/", in("shared/fault", "shared/estimate", "shared/estimate/money", "shared/estimate/catalog", "shared/estimate/stat", "shared/estimate/formula")},
	{"shared/a2a/front/", append(in("shared/fault", "shared/a2a", "shared/schema"), sdk...)},
	{"shared/a2a/", append(in("shared/fault", "shared/a2a"), sdk...)},
	{"shared/egress/", append(in("shared/fault"), "code.dny.dev/ssrf")},
	{"shared/research/corpus/", append(in("shared/fault", "shared/research"), "github.com/blevesearch/bleve/v2")},
	{"shared/research/page/", append(in("shared/fault", "shared/research"), "codeberg.org/readeck/go-readability/v2", "golang.org/x/net/html")},
	{"shared/research/", append(in("shared/fault", "shared/research"), "golang.org/x/sync/errgroup")},
	{"shared/callable/", in("shared/fault", "shared/callable")},
	{"shared/identity/", append(in("shared/fault", "shared/a2a"), "github.com/golang-jwt/jwt/v5", "golang.org/x/sync/singleflight")},
	{"shared/fivestep/", append(in("shared/fault", "shared/a2a/wire"), "github.com/tmaxmax/go-sse")},
	{"shared/agent/", in("shared/fault", "shared/estimate", "shared/a2a")},
	{"shared/schema/", append(in("shared/fault"), "github.com/santhosh-tekuri/jsonschema/v6")},
	{"shared/chart/", in("shared/engine")},
	{"shared/report/", append(in("shared/fault", "shared/estimate"), "codeberg.org/go-pdf/fpdf")},
	{"shared/flows/", in("shared/fault", "shared/estimate", "shared/engine", "shared/runner", "shared/a2a", "shared/schema")},
	{"shared/runner/", append(in("shared/fault", "shared/engine", "shared/a2a", "shared/runner", "shared/schema"), sdk...)},
	{"shared/gcp/", append(in("shared/fault", "shared/engine", "shared/a2a", "shared/runner", "shared/estimate"), anything[0])},
	{"shared/host/", append(in("shared"), "github.com/cloudevents/sdk-go/v2")},
	{"shared/boot/", anything},
	{"functions/browse/", append(in("shared/fault", "shared/a2a", "shared/research", "shared/schema"), sdk...)},
	{"functions/functions.go", in("shared", "functions")},
	{"functions/", append(in("shared/fault", "shared/estimate", "shared/engine", "shared/a2a", "shared/callable", "shared/agent", "shared/flows", "shared/runner", "shared/report"), sdk...)},
	{"triggers/triggers.go", in("shared", "triggers")},
	{"triggers/", in("shared/fault", "shared/engine", "shared/a2a", "shared/runner")},
	{"", anything},
}

// impure are the standard packages that the pure packages do without.
var impure = []string{"os", "net", "net/http", "log", "log/slog", "io/ioutil", "os/exec", "syscall"}

var pure = []string{"shared/fault/", "shared/engine/", "shared/estimate/", "shared/chart/", "shared/report/"}

// clouds may appear under these folders of shared alone.
var clouds = []string{"cloud.google.com/", "google.golang.org/", "firebase.google.com/"}

type file struct {
	name    string // path from the root of the module
	ast     *ast.File
	imports []string
}

func files(t *testing.T) []file {
	t.Helper()
	root := "../.."
	var all []file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f := file{name: filepath.ToSlash(rel), ast: parsed}
		for _, i := range parsed.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, p)
		}
		all = append(all, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("found %d Go files: the test looks in the wrong place", len(all))
	}
	return all
}

func (f *file) isTest() bool {
	return strings.HasSuffix(f.name, "_test.go") || strings.HasSuffix(path.Base(path.Dir(f.name)), "test")
}

func allowed(imported string, may []string) bool {
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(may, func(m string) bool {
		return m == "*" || imported == m || strings.HasPrefix(imported, m+"/")
	})
}

// breach returns what is wrong with an import, or "".
func breach(name, imported string) string {
	for _, r := range rules {
		if strings.HasPrefix(name, r.file) {
			if !allowed(imported, r.may) {
				return "may not import " + imported
			}
			break
		}
	}
	for _, p := range pure {
		if strings.HasPrefix(name, p) && slices.Contains(impure, imported) {
			return "is pure and may not import " + imported
		}
	}
	if strings.HasPrefix(name, "shared/") && !strings.HasPrefix(name, "shared/gcp/") && !strings.HasPrefix(name, "shared/boot/") {
		for _, c := range clouds {
			if strings.HasPrefix(imported, c) {
				return "may not import a cloud SDK: " + imported
			}
		}
	}
	return sibling(name, imported)
}

// sibling keeps entry points apart: a function or a trigger imports no other,
// and packages under shared/estimate talk through its types.
func sibling(name, imported string) string {
	for _, group := range []string{"functions/", "triggers/"} {
		if strings.HasPrefix(name, group) && strings.Count(name, "/") > 1 && strings.HasPrefix(imported, module+"/"+group) {
			return "may not import its sibling " + imported
		}
	}
	free := []string{"", "money", "catalog", "stat", "formula"}
	rest, ok := strings.CutPrefix(imported, module+"/shared/estimate")
	if ok && strings.HasPrefix(name, "shared/estimate/") && !slices.Contains(free, strings.TrimPrefix(rest, "/")) {
		return "may not import its sibling " + imported
	}
	return ""
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		if f.isTest() {
			continue
		}
		for _, imported := range f.imports {
			if wrong := breach(f.name, imported); wrong != "" {
				t.Errorf("%s %s", f.name, wrong)
			}
		}
	}
}

// The rules themselves can fail.
func TestRulesBite(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, imported string
		bad            bool
	}{
		{"shared/fault/fault.go", module + "/shared/engine", true},
		{"shared/fault/fault.go", "net/http", true},
		{"shared/engine/next.go", "log/slog", true},
		{"shared/engine/next.go", module + "/shared/fault", false},
		{"shared/estimate/pricing/price.go", module + "/shared/estimate/takeoff", true},
		{"shared/estimate/pricing/price.go", module + "/shared/estimate/stat", false},
		{"shared/runner/handle.go", "cloud.google.com/go/firestore", true},
		{"shared/runner/handle.go", module + "/shared/gcp/docstore", true},
		{"shared/runner/handle.go", "github.com/santhosh-tekuri/jsonschema/v6", true},
		{"shared/schema/schema.go", "github.com/santhosh-tekuri/jsonschema/v6", false},
		{"shared/schema/schema.go", module + "/shared/engine", true},
		{"shared/a2a/front/fivestep.go", module + "/shared/schema", false},
		{"shared/a2a/task/desk.go", module + "/shared/schema", true},
		{"shared/fivestep/client.go", module + "/shared/a2a/front", true},
		{"shared/chart/flow.go", "os", true},
		{"shared/gcp/docstore/store.go", "cloud.google.com/go/firestore", false},
		{"functions/location/agent.go", module + "/functions/scope", true},
		{"functions/location/agent.go", module + "/shared/boot", true},
		{"functions/functions.go", module + "/functions/scope", false},
		{"functions/browse/agent.go", "github.com/blevesearch/bleve/v2", true},
		{"functions/browse/agent.go", module + "/shared/egress", true},
		{"shared/research/rank.go", "github.com/blevesearch/bleve/v2", true},
		{"shared/research/page/page.go", module + "/shared/egress", true},
		{"shared/egress/client.go", module + "/shared/a2a/task", true},
		{"shared/a2a/webhook/webhook.go", module + "/shared/egress", true},
		{"triggers/step/step.go", "github.com/cloudevents/sdk-go/v2", true},
		{"emulator/main.go", module + "/shared/boot", false},
	}
	for _, tt := range tests {
		if got := breach(tt.name, tt.imported); (got != "") != tt.bad {
			t.Errorf("breach(%s, %s) = %q, want bad: %v", tt.name, tt.imported, got, tt.bad)
		}
	}
}

func TestHabits(t *testing.T) {
	t.Parallel()
	vague := []string{"util", "utils", "common", "helpers", "base", "misc", "types"}
	documented := map[string]bool{}
	for _, f := range files(t) {
		dir := path.Dir(f.name)
		if slices.Contains(vague, f.ast.Name.Name) {
			t.Errorf("%s: a package called %s says nothing", f.name, f.ast.Name.Name)
		}
		documented[dir] = documented[dir] || f.ast.Doc != nil
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" && f.name != "function.go" {
				t.Errorf("%s: only function.go has an init", f.name)
			}
		}
	}
	for dir, doc := range documented {
		if !doc {
			t.Errorf("package in %s has no doc comment", dir)
		}
	}
}

// The function builder wants exactly one package at the root, and wants it to
// import the framework itself.
func TestRootSuitsTheFunctionBuilder(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	var root []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") {
			root = append(root, e.Name())
		}
	}
	if !slices.Equal(root, []string{"function.go"}) {
		t.Errorf("Go files at the root = %v, want function.go alone", root)
	}
	for _, f := range files(t) {
		if f.name == "function.go" && (f.ast.Name.Name == "main" || !slices.Contains(f.imports, "github.com/GoogleCloudPlatform/functions-framework-go/functions")) {
			t.Error("function.go is package main or does not import the framework's functions")
		}
	}
}
