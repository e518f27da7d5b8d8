package value

import (
	"math"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Kind is the type bracket of a value; kinds sort in the order of their
// constants, so comparing kinds compares types.
type Kind int

// The brackets in the order of the service. Unset is a wire value without a
// type, which no stored document contains.
const (
	Null Kind = iota
	Bool
	Number
	Timestamp
	String
	Bytes
	Reference
	GeoPoint
	Array
	Vector
	Map
	Unset
)

// A vector is a map with these two members.
const (
	typeField   = "__type__"
	valueField  = "value"
	vectorValue = "__vector__"
)

// KindOf returns the type bracket of v.
func KindOf(v *pb.Value) Kind {
	switch x := v.GetValueType().(type) {
	case *pb.Value_NullValue:
		return Null
	case *pb.Value_BooleanValue:
		return Bool
	case *pb.Value_IntegerValue, *pb.Value_DoubleValue:
		return Number
	case *pb.Value_TimestampValue:
		return Timestamp
	case *pb.Value_StringValue:
		return String
	case *pb.Value_BytesValue:
		return Bytes
	case *pb.Value_ReferenceValue:
		return Reference
	case *pb.Value_GeoPointValue:
		return GeoPoint
	case *pb.Value_ArrayValue:
		return Array
	case *pb.Value_MapValue:
		if isVector(x.MapValue) {
			return Vector
		}
		return Map
	}
	return Unset
}

func isVector(m *pb.MapValue) bool {
	return m.GetFields()[typeField].GetStringValue() == vectorValue
}

// elements returns the components of a vector.
func elements(v *pb.Value) []*pb.Value {
	return v.GetMapValue().GetFields()[valueField].GetArrayValue().GetValues()
}

// IsNull tells whether v is the null value.
func IsNull(v *pb.Value) bool {
	_, ok := v.GetValueType().(*pb.Value_NullValue)
	return ok
}

// IsNaN tells whether v is the double NaN.
func IsNaN(v *pb.Value) bool {
	d, ok := v.GetValueType().(*pb.Value_DoubleValue)
	return ok && math.IsNaN(d.DoubleValue)
}

// IsNumber tells whether v is an integer or a double.
func IsNumber(v *pb.Value) bool { return KindOf(v) == Number }

// AsInt returns the integer in v, and whether v is one.
func AsInt(v *pb.Value) (int64, bool) {
	i, ok := v.GetValueType().(*pb.Value_IntegerValue)
	if !ok {
		return 0, false
	}
	return i.IntegerValue, true
}

// AsFloat returns the number in v as a double; 0 for other types.
func AsFloat(v *pb.Value) float64 {
	if i, ok := AsInt(v); ok {
		return float64(i)
	}
	return v.GetDoubleValue()
}

// NewNull returns the null value.
func NewNull() *pb.Value {
	return &pb.Value{ValueType: &pb.Value_NullValue{NullValue: structpb.NullValue_NULL_VALUE}}
}

// NewInt returns an integer value.
func NewInt(i int64) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_IntegerValue{IntegerValue: i}}
}

// NewFloat returns a double value.
func NewFloat(f float64) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_DoubleValue{DoubleValue: f}}
}

// NewString returns a string value.
func NewString(s string) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_StringValue{StringValue: s}}
}

// NewReference returns a reference to the named document.
func NewReference(name string) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_ReferenceValue{ReferenceValue: name}}
}

// NewTimestamp returns a timestamp value.
func NewTimestamp(t *timestamppb.Timestamp) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_TimestampValue{TimestampValue: t}}
}

// NewArray returns an array of vs.
func NewArray(vs []*pb.Value) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_ArrayValue{ArrayValue: &pb.ArrayValue{Values: vs}}}
}

// NewMap returns a map with the given fields.
func NewMap(fields map[string]*pb.Value) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_MapValue{MapValue: &pb.MapValue{Fields: fields}}}
}
