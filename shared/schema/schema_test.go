package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/schema"
)

const order = `{
	"type": "object", "required": ["answer"], "additionalProperties": false,
	"properties": {"answer": {
		"type": "object", "required": ["lines"],
		"properties": {
			"lines": {"type": "array", "maxItems": 8, "items": {
				"type": "object", "required": ["sku", "qty"], "additionalProperties": false,
				"properties": {"sku": {"type": "string", "pattern": "^[A-Z]+$"}, "qty": {"type": "number", "minimum": 0.5}}
			}},
			"when": {"type": "string", "format": "date"},
			"kind": {"enum": ["new", "old"]}
		}
	}}
}`

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, document, want string }{
		{"good", order, `{"answer":{"lines":[{"sku":"A","qty":1}],"when":"2026-02-28","kind":"new"}}`, ""},
		{"type", order, `{"answer":{"lines":[{"sku":"A","qty":"x"}]}}`, `answer.lines[0].qty: wanted number, not "x"`},
		{"missing", order, `{"answer":{"lines":[{}]}}`, `answer.lines[0].qty: is missing; answer.lines[0].sku: is missing`},
		{"root", order, `[]`, `wanted object, not an array`},
		{"unknown", order, `{"answer":{"lines":[]},"extra":1}`, `extra: is not a member that is known here`},
		{"format", order, `{"answer":{"lines":[],"when":"2026-02-30"}}`, `answer.when: wanted the format date, not "2026-02-30"`},
		{"enum", order, `{"answer":{"lines":[],"kind":"odd"}}`, `answer.kind: wanted one of "new", "old", not "odd"`},
		{"pattern", order, `{"answer":{"lines":[{"sku":"a","qty":1}]}}`, `answer.lines[0].sku: wanted a text like "^[A-Z]+$", not "a"`},
		{"more", order, `{"answer":{"lines":[1,2,3,4,5,6,7]}}`, `answer.lines[0]: wanted object, not 1; answer.lines[1]: wanted object, not 2; answer.lines[2]: wanted object, not 3; answer.lines[3]: wanted object, not 4; answer.lines[4]: wanted object, not 5; and 2 more`},
		{"order of elements", `{"items":{"type":"null"}}`, `[0,0,0,0,0,0,0,0,0,0,0]`, `[0]: wanted null, not 0; [1]: wanted null, not 0; [2]: wanted null, not 0; [3]: wanted null, not 0; [4]: wanted null, not 0; and 6 more`},
		{"minimum", order, `{"answer":{"lines":[{"sku":"A","qty":0.25}]}}`, `answer.lines[0].qty: wanted at least 0.5, not 0.25`},
		{"counts", `{"minItems":3,"uniqueItems":true}`, `[1,1]`, `wanted at least 3 elements, not 2; wanted elements that differ, and [1] equals [0]`},
		{"members", `{"minProperties":3,"propertyNames":{"maxLength":2}}`, `{"abc":1}`, `wanted at least 3 members, not 1; abc: wanted a member of another name`},
		{"lengths", `{"items":{"minLength":2,"maxLength":3}}`, `["ä","äöüß"]`, `[0]: wanted at least 2 characters, not 1; [1]: wanted at most 3 characters, not 4`},
		{"types of alternatives", `{"anyOf":[{"type":"string"},{"type":"number"}]}`, `{}`, `wanted number or string, not an object`},
		{"nearest alternative", `{"oneOf":[{"properties":{"a":{"type":"object","required":["b"]}}},{"type":"string"}]}`, `{"a":{}}`, `a.b: is missing`},
		{"two alternatives", `{"oneOf":[{"type":"number"},{"minimum":1}]}`, `2`, `fits alternatives 1 and 2 of its schema, wanted exactly one`},
		{"no other", `{"properties":{"a":false},"not":{"required":["b"]}}`, `{"a":1,"b":2}`, `is what its schema excludes; a: is not allowed here`},
		{"together", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `b: is missing, wanted with "a"`},
		{"contains", `{"contains":{"type":"string"}}`, `[1,2]`, `wanted an element of the kind its schema asks for, and none is`},
		{"odd names", `{"additionalProperties":{"type":"null"}}`, `{"a b":1,"":2,"x":{"y":1}}`, `[""]: wanted null, not 2; ["a b"]: wanted null, not 1; x: wanted null, not an object`},
		{"by reference", `{"$defs":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":1.5}`, `a: wanted integer, not 1.5`},
		{"whole floats are integers", `{"type":"integer"}`, `1.0`, ``},
		{"older drafts", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"null"}],"additionalItems":false}`, `[null,1]`, `wanted 1 elements fewer`},
		{"not JSON", `{}`, `{`, `wanted JSON`},
		{"two values", `{}`, `{} {}`, `wanted one JSON value, and something follows it`},
		{"long text", `{"type":"null"}`, `"` + strings.Repeat("x", 100) + `"`, `wanted null, not "` + strings.Repeat("x", 60) + `…"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Compile(json.RawMessage(tt.schema))
			if err != nil {
				t.Fatalf("Compile(%s) = %v", tt.schema, err)
			}
			err = s.Check(json.RawMessage(tt.document))
			if got := public(err); got != tt.want {
				t.Errorf("Check(%s) = %q, want %q", tt.document, got, tt.want)
			}
			if err != nil && fault.KindOf(err) != fault.Invalid {
				t.Errorf("kind of %v = %s, want %s", err, fault.KindOf(err), fault.Invalid)
			}
		})
	}
}

// public is what the writer of a document reads.
func public(err error) string {
	if err == nil {
		return ""
	}
	return fault.Public(err)
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"items":`, 64) + "{}" + strings.Repeat("}", 64)
	wide := `{"allOf":[` + strings.Repeat("{},", 4_000) + `{}]}`
	tests := []struct{ name, schema, want string }{
		{"type", `{"properties":{"qty":{"type":"numbr"}}}`, `properties.qty.type: wanted one of "array", "boolean", "integer", "null", "number", "object", "string", not "numbr"`},
		{"shape", `{"required":"a"}`, `required: wanted array, not "a"`},
		{"not an object", `[]`, `wanted boolean or object, not an array`},
		{"pattern", `{"properties":{"a/b":{"pattern":"(?=x)"}}}`, `properties["a/b"].pattern: wanted the format regex, not "(?=x)"`},
		{"remote", `{"properties":{"a":{"$ref":"http://127.0.0.1:1/x.json#/a"}}}`, `properties.a.$ref: it refers to "http://127.0.0.1:1/x.json", and a schema refers to nothing outside itself`},
		{"file", `{"$ref":"file:///etc/passwd"}`, `$ref: it refers to "file:///etc/passwd", and a schema refers to nothing outside itself`},
		{"relative", `{"items":{"$ref":"other.json"}}`, `items.$ref: it refers to "truecost:///other.json", and a schema refers to nothing outside itself`},
		{"unknown draft", `{"$schema":"http://example.com/draft"}`, `$schema: it refers to "http://example.com/draft", and a schema refers to nothing outside itself`},
		{"dangling", `{"items":{"$ref":"#/$defs/x"}}`, `items.$ref: there is no "#/$defs/x" in the schema`},
		{"anchor", `{"items":{"$ref":"#x"}}`, `items.$ref: there is no "#x" in the schema`},
		{"endless", `{"properties":{"a":{"$ref":"#/properties/b"},"b":{"allOf":[{"$ref":"#/properties/a"}]}}}`, `properties.b.allOf[0]: the schema refers to itself without end`},
		{"too long", `{"title":"` + strings.Repeat("x", schema.MaxSize) + `"}`, fmt.Sprintf(`a schema has at most %d bytes, not %d`, schema.MaxSize, schema.MaxSize+12)},
		{"too deep", deep, `a schema has at most 64 levels and 4000 values, not 65 and 65`},
		{"too wide", wide, `a schema has at most 64 levels and 4000 values, not 3 and 4003`},
		{"deeper than JSON may be", strings.Repeat(`[`, 11_000), `wanted JSON`},
		{"numbers", `{"properties":{"a":{"maximum":1e999999999}}}`, `properties.a.maximum: wanted a number of at most 400 digits`},
		{"bounds", `{"maxLength":-1}`, `maxLength: wanted at least 0, not -1`},
		{"same address", `{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, `the $id "truecost:///x" is there twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Compile(json.RawMessage(tt.schema))
			if got := public(err); got != tt.want {
				t.Errorf("Compile = %q, want %q", got, tt.want)
			}
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("kind of %v = %s, want %s", err, fault.KindOf(err), fault.Invalid)
			}
		})
	}
}

// Nothing at all stands for any object.
func TestAbsentSchema(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(json.RawMessage(`{"x":1}`)); err != nil {
		t.Errorf("Check(object) = %v, want nil", err)
	}
	if got := public(s.Check(json.RawMessage(`"x"`))); got != `wanted object, not "x"` {
		t.Errorf("Check(text) = %q", got)
	}
}

// A float64 would take these numbers for equal.
func TestNumbersBeyondFloats(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(json.RawMessage(`{"type":"integer","maximum":9007199254740993}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(json.RawMessage(`9007199254740993`)); err != nil {
		t.Errorf("Check(2^53+1) = %v, want nil", err)
	}
	if got, want := public(s.Check(json.RawMessage(`9007199254740994`))), "wanted at most 9007199254740993, not 9007199254740994"; got != want {
		t.Errorf("Check(2^53+2) = %q, want %q", got, want)
	}
	if got, want := public(s.Check(json.RawMessage(`1e4000000`))), "wanted a number of at most 400 digits"; got != want {
		t.Errorf("Check(1e4000000) = %q, want %q", got, want)
	}
}

// Every level of the document doubles the work of this schema: 2^60 comparisons
// without a bound.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(json.RawMessage(`{"anyOf":[
		{"properties":{"next":{"$ref":"#"},"a":false}}, {"properties":{"next":{"$ref":"#"},"a":false}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	document := strings.Repeat(`{"next":`, 60) + `{"a":1}` + strings.Repeat("}", 60)
	if got, want := public(s.Check(json.RawMessage(document))), "the document needs more than 200000 comparisons with its schema"; got != want {
		t.Fatalf("Check = %q, want %q", got, want)
	}
	// The next check has a budget of its own.
	if err := s.Check(json.RawMessage(`{"next":{"b":1}}`)); err != nil {
		t.Errorf("Check of a small document = %v, want nil", err)
	}
}

// A message is the same every time, whatever order maps have.
func TestSameWords(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(json.RawMessage(`{"additionalProperties":{"anyOf":[{"required":["x"]},{"required":["y"]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	document := json.RawMessage(`{"a":{},"b":{},"c":{},"d":{},"e":{},"f":{},"g":{}}`)
	want := public(s.Check(document))
	for range 50 {
		if got := public(s.Check(document)); got != want {
			t.Fatalf("Check = %q, before %q", got, want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range archives {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		a := txtar.Parse(b)
		for _, document := range a.Files[1:] {
			f.Add(a.Files[0].Data, document.Data)
		}
	}
	f.Fuzz(func(t *testing.T, rules, document []byte) {
		s, err := schema.Compile(rules)
		if err == nil {
			err = s.Check(document)
		}
		if err == nil {
			return
		}
		if kind := fault.KindOf(err); kind != fault.Invalid {
			t.Errorf("kind of %v = %s, want %s", err, kind, fault.Invalid)
		}
		for _, word := range []string{"jsonschema", "metaschema", "urn:mem", "'allOf'", "json-pointer"} {
			if strings.Contains(fault.Public(err), word) && !strings.Contains(string(rules)+string(document), word) {
				t.Errorf("%v speaks of %q, which nobody wrote", err, word)
			}
		}
	})
}

func TestProblems(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(json.RawMessage(order))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Problems(json.RawMessage(`{"answer":{"lines":[{}],"when":1},"more":1}`))
	want := []schema.Problem{
		{Path: "answer.lines[0].qty", Message: "is missing"},
		{Path: "answer.lines[0].sku", Message: "is missing"},
		{Path: "answer.when", Message: "wanted string, not 1"},
		{Path: "more", Message: "is not a member that is known here"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Problems() (-want +got):\n%s%v", diff, err)
	}
	if got, err := s.Problems(json.RawMessage(`{"answer":{"lines":[]}}`)); got != nil || err != nil {
		t.Errorf("Problems(fitting) = %v, %v, want none", got, err)
	}
	if _, err := s.Problems(json.RawMessage(`{`)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("Problems({) = %v, want %s", err, fault.Invalid)
	}
}
