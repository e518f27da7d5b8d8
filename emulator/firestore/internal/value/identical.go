package value

import (
	"math"
	"slices"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
)

// Identical tells whether two values would be stored as the same bits. It is
// stricter than Equal: 1 is not 1.0 and 0 is not -0. A write whose result is
// identical to the stored document changes nothing.
func Identical(a, b *pb.Value) bool {
	if a == b { // versions of a document share what a write left alone
		return true
	}
	switch x := a.GetValueType().(type) {
	case *pb.Value_IntegerValue:
		y, ok := AsInt(b)
		return ok && x.IntegerValue == y
	case *pb.Value_DoubleValue:
		y, ok := b.GetValueType().(*pb.Value_DoubleValue)
		return ok && math.Float64bits(x.DoubleValue) == math.Float64bits(y.DoubleValue)
	case *pb.Value_ReferenceValue:
		y, ok := b.GetValueType().(*pb.Value_ReferenceValue)
		return ok && x.ReferenceValue == y.ReferenceValue
	case *pb.Value_ArrayValue:
		y, ok := b.GetValueType().(*pb.Value_ArrayValue)
		return ok && slices.EqualFunc(x.ArrayValue.GetValues(), y.ArrayValue.GetValues(), Identical)
	case *pb.Value_MapValue:
		y, ok := b.GetValueType().(*pb.Value_MapValue)
		return ok && IdenticalFields(x.MapValue.GetFields(), y.MapValue.GetFields())
	default: // the other types have one representation per value
		return Equal(a, b)
	}
}

// IdenticalFields tells whether two documents or maps have the same fields with
// identical values.
func IdenticalFields(a, b map[string]*pb.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		w, ok := b[k]
		if !ok || !Identical(v, w) {
			return false
		}
	}
	return true
}
