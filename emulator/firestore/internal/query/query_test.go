package query

import (
	"fmt"
	"math"
	"strings"
	"testing"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"truecost.dev/emulator/firestore/internal/store"
	"truecost.dev/emulator/firestore/internal/value"
)

const root = "projects/p/databases/d/documents"

// library is what the tables below query: books with odd values.
func library(t *testing.T) store.Snapshot {
	t.Helper()
	array := func(vs ...*pb.Value) *pb.Value { return value.NewArray(vs) }
	docs := map[string]map[string]*pb.Value{
		"b/1":     {"n": value.NewInt(1), "s": value.NewString("x"), "l": array(value.NewInt(1), value.NewString("a"))},
		"b/2":     {"n": value.NewFloat(2.5), "s": value.NewString("y"), "l": array(value.NewFloat(1))},
		"b/3":     {"n": value.NewString("3"), "s": value.NewString("x"), "l": array(value.NewNull())},
		"b/4":     {"n": value.NewNull(), "s": value.NewString("x")},
		"b/5":     {"n": value.NewFloat(math.NaN()), "s": value.NewNull()},
		"b/6":     {"s": value.NewString("z"), "m": value.NewMap(map[string]*pb.Value{"k": value.NewInt(6)})},
		"b/1/b/7": {"n": value.NewInt(7)},
		"c/1":     {"n": value.NewInt(1)},
	}
	s := store.New(store.Options{})
	var writes []*pb.Write
	for path, fields := range docs {
		writes = append(writes, &pb.Write{Operation: &pb.Write_Update{Update: &pb.Document{Name: root + "/" + path, Fields: fields}}})
	}
	if _, err := s.Commit(t.Context(), root, writes, nil); err != nil {
		t.Fatal(err)
	}
	return s.Now()
}

func parse[M proto.Message](t *testing.T, text string, m M) M {
	t.Helper()
	if err := prototext.Unmarshal([]byte(text), m); err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return m
}

// filter writes a field filter as text; v is the text of a value.
func filter(path, op, v string) string {
	return fmt.Sprintf("field_filter { field { field_path: %q } op: %s value { %s } }", path, op, v)
}

func unary(path, op string) string {
	return fmt.Sprintf("unary_filter { field { field_path: %q } op: %s }", path, op)
}

func both(op string, filters ...string) string {
	return "composite_filter { op: " + op + " filters { " + strings.Join(filters, " } filters { ") + " } }"
}

const books = "from { collection_id: 'b' } "

func where(f string) string { return books + "where { " + f + " }" }

func TestRun(t *testing.T) {
	t.Parallel()
	lib := library(t)
	tests := []struct{ name, query, want string }{
		{"collection", books, "1 2 3 4 5 6"},
		{"collection group", "from { collection_id: 'b' all_descendants: true }", "1 1/b/7 2 3 4 5 6"},
		{"every document", "", "b/1 b/1/b/7 b/2 b/3 b/4 b/5 b/6 c/1"},
		{"equal across number types", where(filter("n", "EQUAL", "double_value: 1")), "1"},
		{"equal null", where(filter("n", "EQUAL", "null_value: NULL_VALUE")), "4"},
		{"not equal leaves out null and missing", where(filter("n", "NOT_EQUAL", "integer_value: 1")), "5 2 3"},
		{"less stays in the type", where(filter("n", "LESS_THAN", "integer_value: 9")), "1 2"},
		{"greater or equal of a string", where(filter("n", "GREATER_THAN_OR_EQUAL", "string_value: ''")), "3"},
		{"less than NaN", where(filter("n", "LESS_THAN_OR_EQUAL", "double_value: nan")), ""},
		{"less than null", where(filter("n", "LESS_THAN_OR_EQUAL", "null_value: NULL_VALUE")), ""},
		{"nested field", where(filter("m.k", "GREATER_THAN", "integer_value: 5")), "6"},
		{"in", where(filter("s", "IN", "array_value { values { string_value: 'y' } values { null_value: NULL_VALUE } }")), "2"},
		{"not in", where(filter("s", "NOT_IN", "array_value { values { string_value: 'x' } }")), "2 6"},
		{"not in with null", where(filter("s", "NOT_IN", "array_value { values { null_value: NULL_VALUE } }")), ""},
		{"array contains", where(filter("l", "ARRAY_CONTAINS", "integer_value: 1")), "1 2"},
		{"array contains null", where(filter("l", "ARRAY_CONTAINS", "null_value: NULL_VALUE")), ""},
		{"array contains any", where(filter("l", "ARRAY_CONTAINS_ANY", "array_value { values { string_value: 'a' } values { string_value: 'b' } }")), "1"},
		{"is NaN", where(unary("n", "IS_NAN")), "5"},
		{"is null", where(unary("n", "IS_NULL")), "4"},
		{"is not NaN", where(unary("n", "IS_NOT_NAN")), "1 2 3"},
		{"is not null", where(unary("n", "IS_NOT_NULL")), "5 1 2 3"},
		{"and", where(both("AND", filter("s", "EQUAL", "string_value: 'x'"), unary("n", "IS_NULL"))), "4"},
		{"or", where(both("OR", filter("s", "EQUAL", "string_value: 'z'"), unary("n", "IS_NULL"))), "4 6"},
		{"order leaves out the missing", books + "order_by { field { field_path: 'n' } }", "4 5 1 2 3"},
		{"order descending takes the name along", books + "order_by { field { field_path: 's' } direction: DESCENDING }", "6 2 4 3 1 5"},
		{"two orders", books + "order_by { field { field_path: 's' } } order_by { field { field_path: 'n' } direction: DESCENDING }", "5 3 1 4 2"},
		{"inequality orders", where(filter("s", "GREATER_THAN", "string_value: 'x'")), "2 6"},
		{"start at", books + "order_by { field { field_path: 'n' } } start_at { values { integer_value: 1 } before: true }", "1 2 3"},
		{"start after", books + "order_by { field { field_path: 'n' } } start_at { values { integer_value: 1 } }", "2 3"},
		{"end at", books + "order_by { field { field_path: 'n' } } end_at { values { integer_value: 1 } }", "4 5 1"},
		{"end before", books + "order_by { field { field_path: 'n' } } end_at { values { integer_value: 1 } before: true }", "4 5"},
		{"limit and offset", books + "offset: 1 limit { value: 2 }", "2 3"},
		{"limit 0", books + "limit {}", ""},
		{"offset past the end", books + "offset: 9", ""},
		{"name", where(filter("__name__", "GREATER_THAN", "reference_value: '"+root+"/b/4'")), "5 6"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q, err := Compile(root, parse(t, test.query, &pb.StructuredQuery{}))
			if err != nil {
				t.Fatalf("Compile(%s) = %v", test.query, err)
			}
			var got []string
			for _, d := range q.Run(lib) {
				path := strings.TrimPrefix(d.GetName(), root+"/")
				if test.query != "" {
					path = strings.TrimPrefix(path, "b/")
				}
				got = append(got, path)
			}
			if g := strings.Join(got, " "); g != test.want {
				t.Errorf("Run(%s) = %s, want %s", test.query, g, test.want)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	list := func(n int) string { return "array_value { " + strings.Repeat("values { integer_value: 1 } ", n) + "}" }
	byName := "order_by { field { field_path: '__name__' } "
	tests := []struct{ name, query, want string }{
		{"negative limit", books + "limit { value: -1 }", "limit is negative"},
		{"negative offset", books + "offset: -1", "offset is negative"},
		{"reserved collection", "from { collection_id: '__c__' }", `Collection id "__c__" is invalid because it is reserved.`},
		{"empty IN", where(filter("a", "IN", list(0))), "'IN' requires an non-empty ArrayValue."},
		{"IN of no list", where(filter("a", "IN", "integer_value: 1")), "'IN' requires an non-empty ArrayValue."},
		{"31 in IN", where(filter("a", "IN", list(31))), "'IN' supports up to 30 comparison values."},
		{"11 in NOT_IN", where(filter("a", "NOT_IN", list(11))), "'NOT_IN' supports up to 10 comparison values."},
		{
			"two ARRAY_CONTAINS", where(both("AND", filter("a", "ARRAY_CONTAINS", "integer_value: 1"), filter("b", "ARRAY_CONTAINS_ANY", list(1)))),
			"A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.",
		},
		{
			"two negations", where(both("AND", filter("a", "NOT_EQUAL", "integer_value: 1"), unary("a", "IS_NOT_NULL"))),
			"Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per query.",
		},
		{"NOT_IN beside OR", where(both("OR", filter("a", "NOT_IN", list(1)), unary("a", "IS_NULL"))), "'NOT_IN' cannot be used in the same query"},
		{"disjunctions", where(both("AND", filter("a", "IN", list(6)), filter("b", "IN", list(6)))), "the maximum is 30"},
		{"fields after the key", books + byName + "} order_by { field { field_path: 'a' } }", "order by clause cannot contain more fields after the key"},
		{"inequality after the key", where(filter("a", "LESS_THAN", "integer_value: 1")) + byName + "}", "order by clause cannot contain more fields after the key"},
		{"descending key scan", books + byName + "direction: DESCENDING }", "Firestore does not support descending key scans"},
		{
			"key equality beside an inequality", where(both("AND", filter("__name__", "EQUAL", "reference_value: '"+root+"/b/1'"), filter("a", "LESS_THAN", "integer_value: 1"))),
			"Equality on key is not allowed",
		},
		{"name of no document", where(filter("__name__", "EQUAL", "string_value: 'b/1'")), "__key__ filter value must be a Key"},
		{"long cursor", books + "start_at { values { integer_value: 1 } values { integer_value: 1 } }", "Cursor has too many values."},
		{"bad path", where(filter("a..b", "EQUAL", "integer_value: 1")), `Invalid property path "a..b".`},
		{"no operator", where(filter("a", "OPERATOR_UNSPECIFIED", "integer_value: 1")), "no operator"},
		{"no value", where("field_filter { field { field_path: 'a' } op: EQUAL }"), "no value"},
		{"empty composite", where("composite_filter { op: AND }"), "no filters"},
		{"find_nearest", books + "find_nearest { distance_measure: COSINE }", "find_nearest"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile(root, parse(t, test.query, &pb.StructuredQuery{}))
			if !strings.Contains(status.Convert(err).Message(), test.want) || err == nil {
				t.Errorf("Compile(%s) = %v, want %q", test.query, err, test.want)
			}
		})
	}
	if _, err := Compile("projects/p", parse(t, books, &pb.StructuredQuery{})); err == nil {
		t.Error("Compile() below no database = nil, want an error")
	}
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	s := store.New(store.Options{})
	var writes []*pb.Write
	for i, v := range []*pb.Value{
		value.NewFloat(1e100), value.NewInt(1), value.NewFloat(31), value.NewFloat(-1e100), value.NewString("no number"), value.NewNull(),
	} {
		writes = append(writes, &pb.Write{Operation: &pb.Write_Update{Update: &pb.Document{
			Name:   fmt.Sprintf("%s/b/%d", root, i),
			Fields: map[string]*pb.Value{"x": v, "big": value.NewInt(math.MaxInt64), "i": value.NewInt(int64(i))},
		}}})
	}
	writes = append(writes, &pb.Write{Operation: &pb.Write_Update{Update: &pb.Document{Name: root + "/b/9"}}})
	if _, err := s.Commit(t.Context(), root, writes, nil); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, aggregations, want string }{
		{"count", "aggregations { count {} }", "integer_value: 7"},
		{"count up to", "aggregations { count { up_to { value: 2 } } }", "integer_value: 2"},
		{"sum compensates", "aggregations { sum { field { field_path: 'x' } } }", "double_value: 32"},
		{"sum of integers", "aggregations { sum { field { field_path: 'i' } } }", "integer_value: 15"},
		{"sum that leaves int64", "aggregations { sum { field { field_path: 'big' } } }", fmt.Sprintf("double_value: %v", 6*float64(math.MaxInt64))},
		{"sum of nothing", "aggregations { sum { field { field_path: 'none' } } }", "integer_value: 0"},
		{"average", "aggregations { avg { field { field_path: 'x' } } }", "double_value: 8"},
		{"average of nothing", "aggregations { avg { field { field_path: 'none' } } }", "null_value: NULL_VALUE"},
		{"count beside a sum counts what has the field", "aggregations { count {} } aggregations { alias: 's' sum { field { field_path: 'x' } } }", "integer_value: 6"},
	}
	for _, test := range tests {
		a, err := CompileAggregation(root, parse(t, "structured_query { from { collection_id: 'b' } } "+test.aggregations, &pb.StructuredAggregationQuery{}))
		if err != nil {
			t.Errorf("%s: CompileAggregation() = %v", test.name, err)
			continue
		}
		got := a.Run(a.Query.Run(s.Now()))["field_1"]
		if want := parse(t, test.want, &pb.Value{}); !value.Identical(got, want) {
			t.Errorf("%s = %v, want %v", test.name, got, want)
		}
	}
	for _, bad := range []string{
		"", "aggregations {}", "aggregations { count { up_to {} } }", strings.Repeat("aggregations { count {} } ", 6),
		"aggregations { alias: 'a' count {} } aggregations { alias: 'a' count {} }",
	} {
		if _, err := CompileAggregation(root, parse(t, "structured_query { from { collection_id: 'b' } } "+bad, &pb.StructuredAggregationQuery{})); err == nil {
			t.Errorf("CompileAggregation(%s) = nil, want an error", bad)
		}
	}
}

// FuzzCompile feeds queries off the wire: whatever compiles must run.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		books, where(filter("n", "LESS_THAN", "integer_value: 9")),
		where(both("OR", unary("n", "IS_NULL"), filter("l", "ARRAY_CONTAINS_ANY", "array_value { values { string_value: 'a' } }"))),
		books + "order_by { field { field_path: 'n' } } start_at { values { integer_value: 1 } before: true } limit { value: 2 }",
		books + "select { fields { field_path: '`a.b`' } }",
	} {
		q := &pb.StructuredQuery{}
		if err := prototext.Unmarshal([]byte(text), q); err != nil {
			f.Fatal(err)
		}
		b, err := proto.Marshal(q)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		raw := &pb.StructuredQuery{}
		if proto.Unmarshal(b, raw) != nil {
			return
		}
		q, err := Compile(root, raw)
		if err != nil {
			return
		}
		for _, d := range q.Run(library(t)) {
			if !q.Includes(d) {
				t.Errorf("Run() returns %s, which Includes() denies", d.GetName())
			}
			q.Project(d)
		}
	})
}
