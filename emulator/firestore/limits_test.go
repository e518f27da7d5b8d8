package firestore_test

import (
	"fmt"
	"strings"
	"testing"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const defaultDatabase = "projects/truecost/databases/(default)"

func arrayValue(vs ...*pb.Value) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_ArrayValue{ArrayValue: &pb.ArrayValue{Values: vs}}}
}

func mapValue(fields map[string]*pb.Value) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_MapValue{MapValue: &pb.MapValue{Fields: fields}}}
}

// nested returns a value that is n maps deep, counting the innermost string as
// no level.
func nested(n int) *pb.Value {
	v := stringValue("x")
	for range n {
		v = mapValue(map[string]*pb.Value{"m": v})
	}
	return v
}

func fieldsNamed(n int) map[string]*pb.Value {
	out := map[string]*pb.Value{}
	for i := range n {
		out[fmt.Sprintf("f%05d", i)] = intValue(1)
	}
	return out
}

func TestLimits(t *testing.T) {
	t.Parallel()
	_, api := raw(t)
	one := func(k string, v *pb.Value) map[string]*pb.Value { return map[string]*pb.Value{k: v} }
	// c/1 costs 3+1+16 bytes as a name and 32 as a document; a field "a" 2.
	const room = 1<<20 - 20 - 32 - 2
	tests := []struct {
		name, id string
		fields   map[string]*pb.Value
		want     codes.Code
		message  string
	}{
		{"exactly 1 MiB in two fields", "c/1", map[string]*pb.Value{
			"a": stringValue(strings.Repeat("x", 600_000)), "b": stringValue(strings.Repeat("x", room-600_001-2-1)),
		}, codes.OK, ""},
		{
			"a byte more than 1 MiB", "c/1",
			map[string]*pb.Value{
				"a": stringValue(strings.Repeat("x", 600_000)), "b": stringValue(strings.Repeat("x", room-600_001-2)),
			},
			codes.InvalidArgument, "maximum entity size is 1048576 bytes",
		},
		{
			"a long value", "c/1", one("a", stringValue(strings.Repeat("x", 1_048_488))),
			codes.InvalidArgument, `The value of property "a" is longer than 1048487 bytes.`,
		},
		{"the longest value", "c/1", one("a", stringValue(strings.Repeat("x", 1_048_487))), codes.OK, ""},
		{"20 levels", "c/1", one("a", nested(20)), codes.OK, ""},
		{"21 levels", "c/1", one("a", nested(21)), codes.InvalidArgument, "contains an invalid nested entity"},
		{"array in array", "c/1", one("a", arrayValue(arrayValue())), codes.InvalidArgument, "Cannot convert an array value in an array value."},
		{"array in map in array", "c/1", one("a", arrayValue(mapValue(one("b", arrayValue())))), codes.OK, ""},
		{"reserved field", "c/1", one("__a__", intValue(1)), codes.InvalidArgument, "field name __a__ is reserved"},
		{"empty field name", "c/1", one("", intValue(1)), codes.InvalidArgument, "The property.name is the empty string."},
		{"long field name", "c/1", one(strings.Repeat("x", 1501), intValue(1)), codes.InvalidArgument, "longer than 1500 bytes"},
		{"reserved document id", "c/__a__", nil, codes.InvalidArgument, "reserved"},
		{"numeric document id", "c/__id7__", nil, codes.OK, ""},
		{"dots as an id", "c/..", nil, codes.InvalidArgument, "reserved"},
		{"collection as a document", "c", nil, codes.InvalidArgument, ""},
		{"empty id", "c//d/1", nil, codes.InvalidArgument, ""},
		{"long id", "c/" + strings.Repeat("x", 1501), nil, codes.InvalidArgument, "longer than 1500 bytes"},
		{"20,000 fields", "c/1", fieldsNamed(20_000), codes.OK, ""},
		{"20,001 fields", "c/1", fieldsNamed(20_001), codes.InvalidArgument, "too many index entries"},
		{"a value without a type", "c/1", one("a", &pb.Value{}), codes.InvalidArgument, "Cannot convert firestore.v1.Value with type unset."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := api.Commit(t.Context(), &pb.CommitRequest{Database: defaultDatabase, Writes: []*pb.Write{{
				Operation: &pb.Write_Update{Update: &pb.Document{Name: defaultDatabase + "/documents/" + test.id, Fields: test.fields}},
			}}})
			if got := status.Code(err); got != test.want || !strings.Contains(status.Convert(err).Message(), test.message) {
				t.Errorf("Commit(%s) = %v %q, want %v %q", test.name, got, status.Convert(err).Message(), test.want, test.message)
			}
		})
	}
}

func TestCommitIsAtomic(t *testing.T) {
	t.Parallel()
	server, api := raw(t)
	name := func(id string) string { return defaultDatabase + "/documents/c/" + id }
	set := func(id string, p *pb.Precondition) *pb.Write {
		return &pb.Write{Operation: &pb.Write_Update{Update: &pb.Document{Name: name(id)}}, CurrentDocument: p}
	}
	exists := &pb.Precondition{ConditionType: &pb.Precondition_Exists{Exists: true}}
	_, err := api.Commit(t.Context(), &pb.CommitRequest{Database: defaultDatabase, Writes: []*pb.Write{set("1", nil), set("2", exists)}})
	wantCode(t, "Commit with a failing write", err, codes.NotFound)
	_, err = api.GetDocument(t.Context(), &pb.GetDocumentRequest{Name: name("1")})
	wantCode(t, "GetDocument of its other document", err, codes.NotFound)
	if got := server.Counts().Writes; got != 0 {
		t.Errorf("Counts().Writes = %d, want 0", got)
	}
	_, err = api.Commit(t.Context(), &pb.CommitRequest{Database: "projects/other/databases/(default)", Writes: []*pb.Write{set("1", nil)}})
	wantCode(t, "Commit to another database", err, codes.InvalidArgument)
}

// TestVerify sends the write that browsers send for documents that they have
// read and do not write; the generated type does not know its field.
func TestVerify(t *testing.T) {
	t.Parallel()
	_, api := raw(t)
	name := defaultDatabase + "/documents/c/1"
	verify := func(exists bool) *pb.CommitRequest {
		w := &pb.Write{CurrentDocument: &pb.Precondition{ConditionType: &pb.Precondition_Exists{Exists: exists}}}
		w.ProtoReflect().SetUnknown(append([]byte{5<<3 | 2, byte(len(name))}, name...))
		return &pb.CommitRequest{Database: defaultDatabase, Writes: []*pb.Write{w}}
	}
	_, err := api.Commit(t.Context(), verify(true))
	wantCode(t, "verify that a missing document exists", err, codes.NotFound)
	r, err := api.Commit(t.Context(), verify(false))
	wantCode(t, "verify that a missing document is missing", err, codes.OK)
	if len(r.GetWriteResults()) != 1 || r.GetWriteResults()[0].GetUpdateTime() == nil {
		t.Errorf("write results = %v, want one with an update time", r.GetWriteResults())
	}
	_, err = api.GetDocument(t.Context(), &pb.GetDocumentRequest{Name: name})
	wantCode(t, "GetDocument afterwards", err, codes.NotFound)
}
