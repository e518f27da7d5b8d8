package store

import (
	"math"
	"slices"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"

	"truecost.dev/emulator/firestore/internal/field"
	"truecost.dev/emulator/firestore/internal/value"
)

// maxTransforms is how many transforms one write may have.
const maxTransforms = 500

// fieldTransform computes a field from its old value on the server.
type fieldTransform struct {
	path field.Path
	// apply returns the new value and what is answered for it. Old is nil when
	// the field is missing; at is the commit time in microseconds.
	apply func(old *pb.Value, at int64) (v, result *pb.Value)
}

func prepareTransforms(raw []*pb.DocumentTransform_FieldTransform) ([]fieldTransform, error) {
	if len(raw) > maxTransforms {
		return nil, invalid("A document cannot have more than 500 field transforms in a single write.")
	}
	out := make([]fieldTransform, len(raw))
	for i, r := range raw {
		path, err := field.Parse(r.GetFieldPath())
		if err != nil {
			return nil, err
		}
		apply, err := transformer(r)
		if err != nil {
			return nil, err
		}
		out[i] = fieldTransform{path: path, apply: apply}
	}
	return out, nil
}

type applyFunc = func(old *pb.Value, at int64) (v, result *pb.Value)

func transformer(r *pb.DocumentTransform_FieldTransform) (applyFunc, error) {
	switch t := r.GetTransformType().(type) {
	case *pb.DocumentTransform_FieldTransform_SetToServerValue:
		if t.SetToServerValue != pb.DocumentTransform_FieldTransform_REQUEST_TIME {
			return nil, invalid("Unknown server value.")
		}
		return serverTime, nil
	case *pb.DocumentTransform_FieldTransform_Increment:
		return numeric(t.Increment, increment)
	case *pb.DocumentTransform_FieldTransform_Maximum:
		return numeric(t.Maximum, func(old, operand *pb.Value) *pb.Value { return extreme(old, operand, 1) })
	case *pb.DocumentTransform_FieldTransform_Minimum:
		return numeric(t.Minimum, func(old, operand *pb.Value) *pb.Value { return extreme(old, operand, -1) })
	case *pb.DocumentTransform_FieldTransform_AppendMissingElements:
		return array(r.GetFieldPath(), t.AppendMissingElements, union)
	case *pb.DocumentTransform_FieldTransform_RemoveAllFromArray:
		return array(r.GetFieldPath(), t.RemoveAllFromArray, without)
	default:
		return nil, invalid("Unknown field transform.")
	}
}

// serverTime is the commit time in milliseconds. The store is fast enough for
// two commits in one millisecond; a field that is stamped again moves on by one
// so that readers can tell the stamps apart.
func serverTime(old *pb.Value, at int64) (v, result *pb.Value) {
	const milli, near = 1000, 1_000_000
	t := at / milli * milli
	if value.KindOf(old) == value.Timestamp {
		if o := value.Micros(old.GetTimestampValue()); o >= t && o < t+near {
			t = o/milli*milli + milli
		}
	}
	v = value.NewTimestamp(value.Time(t))
	return v, v
}

// numeric makes a transform of a function on two numbers; anything but a number
// is replaced by the operand.
func numeric(operand *pb.Value, combine func(old, operand *pb.Value) *pb.Value) (applyFunc, error) {
	if !value.IsNumber(operand) {
		return nil, invalid("Input must be int64 or double.")
	}
	return func(old *pb.Value, _ int64) (v, result *pb.Value) {
		v = operand
		if value.IsNumber(old) {
			v = combine(old, operand)
		}
		return v, v
	}, nil
}

// increment adds integers, stopping at the limits of int64, and everything else
// as doubles.
func increment(old, operand *pb.Value) *pb.Value {
	a, aInt := value.AsInt(old)
	b, bInt := value.AsInt(operand)
	if !aInt || !bInt {
		return value.NewFloat(value.AsFloat(old) + value.AsFloat(operand))
	}
	switch sum := a + b; {
	case b > 0 && sum < a:
		return value.NewInt(math.MaxInt64)
	case b < 0 && sum > a:
		return value.NewInt(math.MinInt64)
	default:
		return value.NewInt(sum)
	}
}

// extreme is the larger (sign 1) or smaller (sign -1) number; NaN wins, and of
// equal numbers the stored one stays, with its type.
func extreme(old, operand *pb.Value, sign int) *pb.Value {
	if value.IsNaN(old) || value.IsNaN(operand) {
		return value.NewFloat(math.NaN())
	}
	if sign*value.Compare(operand, old) > 0 {
		return operand
	}
	return old
}

// array makes a transform of a function on lists; anything but an array counts
// as the empty one.
func array(path string, operand *pb.ArrayValue, combine func(old, operand []*pb.Value) []*pb.Value) (applyFunc, error) {
	items := make([]*pb.Value, len(operand.GetValues()))
	for i, v := range operand.GetValues() {
		if value.KindOf(v) == value.Array {
			return nil, invalid("Cannot convert an array value in an array value.")
		}
		if err := value.CheckOperand(path, v); err != nil {
			return nil, err
		}
		items[i] = value.Truncate(v)
	}
	return func(old *pb.Value, _ int64) (v, result *pb.Value) {
		return value.NewArray(combine(old.GetArrayValue().GetValues(), items)), value.NewNull()
	}, nil
}

// union appends those of more that are not there yet.
func union(old, more []*pb.Value) []*pb.Value {
	out := slices.Clone(old)
	for _, v := range more {
		if !contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// without drops every element equal to one of gone.
func without(old, gone []*pb.Value) []*pb.Value {
	var out []*pb.Value
	for _, v := range old {
		if !contains(gone, v) {
			out = append(out, v)
		}
	}
	return out
}

func contains(vs []*pb.Value, v *pb.Value) bool {
	return slices.ContainsFunc(vs, func(x *pb.Value) bool { return value.Equal(x, v) })
}
