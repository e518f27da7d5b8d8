package value

import (
	"cmp"
	"math"
	"strings"
	"testing"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func boolean(b bool) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_BooleanValue{BooleanValue: b}}
}

func bytesOf(s string) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_BytesValue{BytesValue: []byte(s)}}
}

func point(lat, lon float64) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_GeoPointValue{GeoPointValue: &latlng.LatLng{Latitude: lat, Longitude: lon}}}
}

func stamp(sec int64, nanos int32) *pb.Value {
	return NewTimestamp(&timestamppb.Timestamp{Seconds: sec, Nanos: nanos})
}

func vector(xs ...float64) *pb.Value {
	var vs []*pb.Value
	for _, x := range xs {
		vs = append(vs, NewFloat(x))
	}
	return NewMap(map[string]*pb.Value{typeField: NewString(vectorValue), valueField: NewArray(vs)})
}

func doc(path string) *pb.Value { return NewReference("projects/p/databases/d/documents/" + path) }

// ascending lists groups of equal values in ascending order.
var ascending = [][]*pb.Value{
	{NewNull()},
	{boolean(false)},
	{boolean(true)},
	{NewFloat(math.NaN())},
	{NewFloat(math.Inf(-1))},
	{NewInt(math.MinInt64), NewFloat(math.MinInt64)},
	{NewInt(math.MinInt64 + 1)},
	{NewFloat(-1.5)},
	{NewInt(-1), NewFloat(-1)},
	{NewInt(0), NewFloat(0), NewFloat(math.Copysign(0, -1))},
	{NewFloat(math.SmallestNonzeroFloat64)},
	{NewInt(1), NewFloat(1)},
	{NewInt(1 << 53), NewFloat(1 << 53)},
	{NewInt(1<<53 + 1)}, // not equal to 2^53 as a double would make it
	{NewInt(math.MaxInt64)},
	{NewFloat(1 << 63)},
	{NewFloat(math.Inf(1))},
	{stamp(0, 0)},
	{stamp(0, 1000)},
	{stamp(1, 0)},
	{NewString("")},
	{NewString("a")},
	{NewString("a\x00")},
	{NewString("aa")},
	{NewString("b")},
	{NewString("\uffff")},
	{NewString("😀")}, // by UTF-8, not UTF-16
	{bytesOf("")},
	{bytesOf("\x00")},
	{bytesOf("\xff")},
	{doc("c/__id-1__")},
	{doc("c/__id9__")},
	{doc("c/__id10__")},
	{doc("c/a")},
	{doc("c/a/s/b")},
	{doc("c/a-b")}, // '-' < '/', yet the segment a is a prefix
	{doc("d/a")},
	{point(-1, 5)},
	{point(0, 0)},
	{point(0, 1)},
	{NewArray(nil)},
	{NewArray([]*pb.Value{NewInt(1)}), NewArray([]*pb.Value{NewFloat(1)})},
	{NewArray([]*pb.Value{NewInt(1), NewNull()})},
	{NewArray([]*pb.Value{NewInt(2)})},
	{vector(9)},
	{vector(1, 2)},
	{vector(1, 3)},
	{NewMap(nil)},
	{NewMap(map[string]*pb.Value{"a": NewInt(1)})},
	{NewMap(map[string]*pb.Value{"a": NewInt(1), "b": NewNull()})},
	{NewMap(map[string]*pb.Value{"a": NewInt(2)})},
	{NewMap(map[string]*pb.Value{"b": NewNull()})},
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for i, group := range ascending {
		for j, other := range ascending {
			for _, a := range group {
				for _, b := range other {
					if got, want := Compare(a, b), cmp.Compare(i, j); got != want {
						t.Errorf("Compare(%v, %v) = %d, want %d", a, b, got, want)
					}
				}
			}
		}
	}
}

func TestIdentical(t *testing.T) {
	t.Parallel()
	for _, group := range ascending {
		for i, a := range group {
			for j, b := range group { // members of a group are equal, never identical
				if got, want := Identical(a, b), i == j; got != want {
					t.Errorf("Identical(%v, %v) = %t, want %t", a, b, got, want)
				}
			}
		}
	}
	if Identical(NewMap(map[string]*pb.Value{"a": NewNull()}), NewMap(map[string]*pb.Value{"b": NewNull()})) {
		t.Error("Identical() of maps with other keys = true, want false")
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	in := NewMap(map[string]*pb.Value{
		"a": NewArray([]*pb.Value{NewInt(1), stamp(3, 1999)}),
		"b": stamp(3, 1000),
	})
	want := NewMap(map[string]*pb.Value{
		"a": NewArray([]*pb.Value{NewInt(1), stamp(3, 1000)}),
		"b": stamp(3, 1000),
	})
	if got := Truncate(in); !Identical(got, want) {
		t.Errorf("Truncate(%v) = %v, want %v", in, got, want)
	}
	if got := Truncate(want); got != want {
		t.Errorf("Truncate(%v) made a copy, want the value itself", want)
	}
}

// TestSize checks against the worked example of the storage documentation: a
// document "tasks/my_task_id" of 147 bytes.
func TestSize(t *testing.T) {
	t.Parallel()
	fields := map[string]*pb.Value{
		"type":        NewString("Personal"),
		"done":        boolean(false),
		"priority":    NewInt(1),
		"description": NewString("Learn Cloud Firestore"),
	}
	c := checker{size: documentOverhead}
	if err := c.fields("", fields, 0); err != nil {
		t.Fatal(err)
	}
	// Name: users (5+1), jeff (4+1), tasks (5+1), my_task_id (10+1), 16.
	const name = 44
	if got, want := c.size+name, 147; got != want {
		t.Errorf("size = %d, want %d", got, want)
	}
	if got, want := c.entries, 8; got != want {
		t.Errorf("index entries = %d, want %d", got, want)
	}
}

func TestCheckDocumentRefusesOutOfRange(t *testing.T) {
	t.Parallel()
	const name = "projects/p/databases/d/documents/c/1"
	for _, v := range []*pb.Value{
		point(90.1, 0), point(0, -180.1), point(math.NaN(), 0),
		stamp(0, -1), stamp(1<<60, 0),
		NewReference("nonsense"),
		NewMap(map[string]*pb.Value{typeField: NewString(vectorValue), valueField: NewArray([]*pb.Value{NewString("x")})}),
		bytesOf(strings.Repeat("x", MaxValueBytes+1)),
	} {
		if err := CheckDocument(name, map[string]*pb.Value{"a": v}); err == nil {
			t.Errorf("CheckDocument(a: %.60v) = nil, want an error", v)
		}
	}
	if err := CheckDocument(name, map[string]*pb.Value{"a": vector(1, 2), "b": point(-90, 180)}); err != nil {
		t.Errorf("CheckDocument(vector and point) = %v, want nil", err)
	}
}
