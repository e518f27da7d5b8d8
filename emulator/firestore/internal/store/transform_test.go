package store

import (
	"math"
	"testing"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/protobuf/encoding/prototext"

	"truecost.dev/emulator/firestore/internal/value"
)

func val(t *testing.T, text string) *pb.Value {
	t.Helper()
	if text == "" {
		return nil
	}
	v := &pb.Value{}
	if err := prototext.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return v
}

func TestTransforms(t *testing.T) {
	t.Parallel()
	const maxInt, minInt = "integer_value: 9223372036854775807", "integer_value: -9223372036854775808"
	tests := []struct{ name, transform, old, want string }{
		{"increment nothing", "increment { integer_value: 2 }", "", "integer_value: 2"},
		{"increment a string", "increment { integer_value: 2 }", "string_value: 'x'", "integer_value: 2"},
		{"increment an integer", "increment { integer_value: 2 }", "integer_value: 3", "integer_value: 5"},
		{"increment stops at the top", "increment { integer_value: 1 }", maxInt, maxInt},
		{"increment stops at the bottom", "increment { integer_value: -1 }", minInt, minInt},
		{"increment by a double", "increment { double_value: 0.5 }", "integer_value: 3", "double_value: 3.5"},
		{"maximum takes the larger", "maximum { integer_value: 7 }", "double_value: 6.5", "integer_value: 7"},
		{"maximum keeps an equal", "maximum { integer_value: 7 }", "double_value: 7", "double_value: 7"},
		{"maximum of no number", "maximum { integer_value: -7 }", "string_value: 'x'", "integer_value: -7"},
		{"maximum of NaN", "maximum { integer_value: 7 }", "double_value: nan", "double_value: nan"},
		{"minimum takes the smaller", "minimum { integer_value: 7 }", "double_value: 7.5", "integer_value: 7"},
		{"minimum by NaN", "minimum { double_value: nan }", "integer_value: 7", "double_value: nan"},
		{
			"union of nothing", "append_missing_elements { values { integer_value: 1 } values { double_value: 1 } }", "",
			"array_value { values { integer_value: 1 } }",
		},
		{
			"union appends", "append_missing_elements { values { integer_value: 1 } values { integer_value: 2 } }",
			"array_value { values { double_value: 1 } }", "array_value { values { double_value: 1 } values { integer_value: 2 } }",
		},
		{
			"remove", "remove_all_from_array { values { integer_value: 1 } }",
			"array_value { values { double_value: 1 } values { integer_value: 2 } values { integer_value: 1 } }",
			"array_value { values { integer_value: 2 } }",
		},
		{"remove from no array", "remove_all_from_array { values { integer_value: 1 } }", "string_value: 'x'", "array_value {}"},
	}
	for _, test := range tests {
		raw := &pb.DocumentTransform_FieldTransform{}
		if err := prototext.Unmarshal([]byte("field_path: 'f' "+test.transform), raw); err != nil {
			t.Fatal(err)
		}
		prepared, err := prepareTransforms([]*pb.DocumentTransform_FieldTransform{raw})
		if err != nil {
			t.Errorf("%s: prepareTransforms() = %v", test.name, err)
			continue
		}
		if got, _ := prepared[0].apply(val(t, test.old), 0); !value.Identical(got, val(t, test.want)) {
			t.Errorf("%s: %s on %s = %v, want %s", test.name, test.transform, test.old, got, test.want)
		}
	}
	for _, bad := range []string{
		"increment { string_value: 'x' }", "maximum { null_value: NULL_VALUE }", "set_to_server_value: SERVER_VALUE_UNSPECIFIED", "",
		"append_missing_elements { values { array_value {} } }",
	} {
		raw := &pb.DocumentTransform_FieldTransform{}
		if err := prototext.Unmarshal([]byte("field_path: 'f' "+bad), raw); err != nil {
			t.Fatal(err)
		}
		if _, err := prepareTransforms([]*pb.DocumentTransform_FieldTransform{raw}); err == nil {
			t.Errorf("prepareTransforms(%s) = nil, want an error", bad)
		}
	}
}

func TestServerTimeMovesOn(t *testing.T) {
	t.Parallel()
	const at = 5_000_123 // one commit time in microseconds; a fast store commits again in the same millisecond
	first, _ := serverTime(nil, at)
	second, _ := serverTime(first, at+1)
	third, _ := serverTime(second, at+2)
	for i, v := range []*pb.Value{first, second, third} {
		if got, want := value.Micros(v.GetTimestampValue()), int64(5_000_000+i*1000); got != want {
			t.Errorf("stamp %d = %d, want %d", i, got, want)
		}
	}
	far := value.NewTimestamp(value.Time(math.MaxInt32 * 1_000_000))
	if got, _ := serverTime(far, at); !value.Identical(got, first) {
		t.Errorf("stamp over a value from the far future = %v, want %v", got, first)
	}
}
