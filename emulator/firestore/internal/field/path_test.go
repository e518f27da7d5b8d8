package field

import (
	"slices"
	"testing"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"truecost.dev/emulator/firestore/internal/value"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want Path // nil: refused
	}{
		{"a", Path{"a"}},
		{"a.b._c9", Path{"a", "b", "_c9"}},
		{"`a.b`.c", Path{"a.b", "c"}},
		{"`a\\`b\\\\`", Path{"a`b\\"}},
		{"`ä ö`", Path{"ä ö"}},
		{"", nil},
		{".", nil},
		{"a.", nil},
		{".a", nil},
		{"a..b", nil},
		{"9a", nil},
		{"a-b", nil},
		{"ä", nil},
		{"``", nil},
		{"`a", nil},
		{"`a`b", nil},
		{"`a\\", nil},
		{"a`b`", nil},
	}
	for _, test := range tests {
		got, err := Parse(test.in)
		if !slices.Equal(got, test.want) || (err != nil) != (test.want == nil) {
			t.Errorf("Parse(%q) = %q, %v, want %q", test.in, got, err, test.want)
		}
		if err != nil && status.Code(err) != codes.InvalidArgument {
			t.Errorf("Parse(%q) code = %v, want InvalidArgument", test.in, status.Code(err))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a", "a.b", "`a.b`.c", "`a\\`b`", "", "a..b", "`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(p.String())
		if err != nil || !slices.Equal(again, p) {
			t.Errorf("Parse(%q) = %q, whose text %q parses to %q, %v", s, p, p.String(), again, err)
		}
	})
}

func TestSet(t *testing.T) {
	t.Parallel()
	one, two := value.NewInt(1), value.NewInt(2)
	m := func(k string, v *pb.Value) *pb.Value { return value.NewMap(map[string]*pb.Value{k: v}) }
	tests := []struct {
		name string
		in   map[string]*pb.Value
		path Path
		set  *pb.Value
		want map[string]*pb.Value
	}{
		{"new field", map[string]*pb.Value{}, Path{"a"}, one, map[string]*pb.Value{"a": one}},
		{"makes maps", map[string]*pb.Value{}, Path{"a", "b"}, one, map[string]*pb.Value{"a": m("b", one)}},
		{"replaces a value in the way", map[string]*pb.Value{"a": two}, Path{"a", "b"}, one, map[string]*pb.Value{"a": m("b", one)}},
		{"deletes", map[string]*pb.Value{"a": m("b", one)}, Path{"a", "b"}, nil, map[string]*pb.Value{"a": value.NewMap(nil)}},
		{"deletes nothing", map[string]*pb.Value{"a": two}, Path{"a", "b"}, nil, map[string]*pb.Value{"a": two}},
		{
			"keeps neighbours",
			map[string]*pb.Value{"a": m("b", one)},
			Path{"a", "c"},
			two,
			map[string]*pb.Value{"a": value.NewMap(map[string]*pb.Value{"b": one, "c": two})},
		},
	}
	for _, test := range tests {
		inside := test.in["a"]
		before := proto.Clone(inside).(*pb.Value)
		test.path.Set(test.in, test.set)
		if !value.IdenticalFields(test.in, test.want) {
			t.Errorf("%s: Set(%q) = %v, want %v", test.name, test.path, test.in, test.want)
		}
		if !value.Identical(inside, before) {
			t.Errorf("%s: the map inside was changed in place", test.name)
		}
		if test.set != nil && test.path.Get(test.in) != test.set {
			t.Errorf("%s: Get(%q) = %v, want %v", test.name, test.path, test.path.Get(test.in), test.set)
		}
	}
}
