package query

import (
	"maps"
	"slices"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"

	"truecost.dev/emulator/firestore/internal/field"
	"truecost.dev/emulator/firestore/internal/value"
)

// predicate decides on one document.
type predicate func(*pb.Document) bool

// test decides on the value of a field that is there.
type test func(*pb.Value) bool

const (
	opLT      = pb.StructuredQuery_FieldFilter_LESS_THAN
	opLE      = pb.StructuredQuery_FieldFilter_LESS_THAN_OR_EQUAL
	opGT      = pb.StructuredQuery_FieldFilter_GREATER_THAN
	opGE      = pb.StructuredQuery_FieldFilter_GREATER_THAN_OR_EQUAL
	opEQ      = pb.StructuredQuery_FieldFilter_EQUAL
	opNE      = pb.StructuredQuery_FieldFilter_NOT_EQUAL
	opHas     = pb.StructuredQuery_FieldFilter_ARRAY_CONTAINS
	opIn      = pb.StructuredQuery_FieldFilter_IN
	opNotIn   = pb.StructuredQuery_FieldFilter_NOT_IN
	opHasAny  = pb.StructuredQuery_FieldFilter_ARRAY_CONTAINS_ANY
	opNaN     = pb.StructuredQuery_UnaryFilter_IS_NAN
	opNull    = pb.StructuredQuery_UnaryFilter_IS_NULL
	opNotNaN  = pb.StructuredQuery_UnaryFilter_IS_NOT_NAN
	opNotNull = pb.StructuredQuery_UnaryFilter_IS_NOT_NULL
)

func (c *Query) compileFilter(q *pb.StructuredQuery) error {
	if q.GetWhere() == nil {
		return nil
	}
	if err := checkFilter(q.GetWhere()); err != nil {
		return err
	}
	var err error
	c.matches, err = compileFilter(q.GetWhere())
	return err
}

func compileFilter(f *pb.StructuredQuery_Filter) (predicate, error) {
	switch x := f.GetFilterType().(type) {
	case *pb.StructuredQuery_Filter_CompositeFilter:
		return compileComposite(x.CompositeFilter)
	case *pb.StructuredQuery_Filter_UnaryFilter:
		t, err := unaryTest(x.UnaryFilter.GetOp())
		if err != nil {
			return nil, err
		}
		return onField(x.UnaryFilter.GetField().GetFieldPath(), t)
	case *pb.StructuredQuery_Filter_FieldFilter:
		t, err := fieldTest(x.FieldFilter.GetOp(), value.Truncate(x.FieldFilter.GetValue()))
		if err != nil {
			return nil, err
		}
		return onField(x.FieldFilter.GetField().GetFieldPath(), t)
	default:
		return nil, invalidf("A filter is empty.")
	}
}

// onField applies a test to a field; a document without the field never matches.
func onField(path string, t test) (predicate, error) {
	p, err := field.Parse(path)
	if err != nil {
		return nil, err
	}
	return func(d *pb.Document) bool {
		v := fieldOf(d, p)
		return v != nil && t(v)
	}, nil
}

func compileComposite(f *pb.StructuredQuery_CompositeFilter) (predicate, error) {
	either := f.GetOp() == pb.StructuredQuery_CompositeFilter_OR
	if !either && f.GetOp() != pb.StructuredQuery_CompositeFilter_AND {
		return nil, invalidf("A composite filter needs the operator AND or OR.")
	}
	parts := make([]predicate, len(f.GetFilters()))
	for i, sub := range f.GetFilters() {
		var err error
		if parts[i], err = compileFilter(sub); err != nil {
			return nil, err
		}
	}
	return func(d *pb.Document) bool {
		for _, p := range parts {
			if p(d) == either {
				return either
			}
		}
		return !either
	}, nil
}

func unaryTest(op pb.StructuredQuery_UnaryFilter_Operator) (test, error) {
	switch op {
	case opNaN:
		return value.IsNaN, nil
	case opNull:
		return value.IsNull, nil
	case opNotNaN:
		return func(v *pb.Value) bool { return !value.IsNaN(v) && !value.IsNull(v) }, nil
	case opNotNull:
		return func(v *pb.Value) bool { return !value.IsNull(v) }, nil
	default:
		return nil, invalidf("A unary filter has no operator.")
	}
}

func fieldTest(op pb.StructuredQuery_FieldFilter_Operator, w *pb.Value) (test, error) {
	switch op {
	case opLT:
		return within(w, func(c int) bool { return c < 0 }), nil
	case opLE:
		return within(w, func(c int) bool { return c <= 0 }), nil
	case opGT:
		return within(w, func(c int) bool { return c > 0 }), nil
	case opGE:
		return within(w, func(c int) bool { return c >= 0 }), nil
	case opEQ:
		return func(v *pb.Value) bool { return value.Equal(v, w) }, nil
	case opNE:
		return noneOf([]*pb.Value{w}), nil
	case opHas:
		return func(v *pb.Value) bool { return !value.IsNull(w) && contains(v.GetArrayValue().GetValues(), w) }, nil
	case opIn:
		ws := matchable(w)
		return func(v *pb.Value) bool { return contains(ws, v) }, nil
	case opNotIn:
		return noneOf(w.GetArrayValue().GetValues()), nil
	case opHasAny:
		ws := matchable(w)
		return func(v *pb.Value) bool {
			return slices.ContainsFunc(ws, func(e *pb.Value) bool { return contains(v.GetArrayValue().GetValues(), e) })
		}, nil
	default:
		return nil, invalidf("A field filter has no operator.")
	}
}

// noneOf makes a test of differing from all operands. Null differs from nothing,
// and nothing differs from null.
func noneOf(ws []*pb.Value) test {
	if slices.ContainsFunc(ws, value.IsNull) {
		return func(*pb.Value) bool { return false }
	}
	return func(v *pb.Value) bool { return !value.IsNull(v) && !contains(ws, v) }
}

// within makes a test of a comparison that holds only inside the type bracket
// of the operand; null and NaN are outside of every range.
func within(w *pb.Value, holds func(c int) bool) test {
	kind := value.KindOf(w)
	if kind == value.Null {
		return func(*pb.Value) bool { return false }
	}
	return func(v *pb.Value) bool {
		return value.KindOf(v) == kind && !value.IsNaN(v) && !value.IsNaN(w) && holds(value.Compare(v, w))
	}
}

// matchable returns the elements of a list operand without null and NaN, which
// IN and ARRAY_CONTAINS_ANY never match.
func matchable(w *pb.Value) []*pb.Value {
	return slices.DeleteFunc(slices.Clone(w.GetArrayValue().GetValues()), func(v *pb.Value) bool { return value.IsNull(v) || value.IsNaN(v) })
}

func contains(vs []*pb.Value, v *pb.Value) bool {
	return slices.ContainsFunc(vs, func(x *pb.Value) bool { return value.Equal(x, v) })
}

// inequalities returns the paths under inequality filters, sorted, each once.
func inequalities(f *pb.StructuredQuery_Filter) []string {
	set := map[string]bool{}
	walk(f, func(path string, inequality bool) {
		if inequality {
			set[path] = true
		}
	})
	return slices.Sorted(maps.Keys(set))
}

// walk visits the field and unary filters inside f.
func walk(f *pb.StructuredQuery_Filter, visit func(path string, inequality bool)) {
	switch x := f.GetFilterType().(type) {
	case *pb.StructuredQuery_Filter_CompositeFilter:
		for _, sub := range x.CompositeFilter.GetFilters() {
			walk(sub, visit)
		}
	case *pb.StructuredQuery_Filter_UnaryFilter:
		op := x.UnaryFilter.GetOp()
		visit(x.UnaryFilter.GetField().GetFieldPath(), op == opNotNaN || op == opNotNull)
	case *pb.StructuredQuery_Filter_FieldFilter:
		visit(x.FieldFilter.GetField().GetFieldPath(), isInequality(x.FieldFilter))
	}
}

// isInequality tells whether a filter orders the result by its field. One that
// can match nothing does not.
func isInequality(f *pb.StructuredQuery_FieldFilter) bool {
	v := f.GetValue()
	switch f.GetOp() {
	case opLT, opLE, opGT, opGE:
		return !value.IsNull(v) && !value.IsNaN(v)
	case opNE:
		return !value.IsNull(v)
	case opNotIn:
		return slices.ContainsFunc(v.GetArrayValue().GetValues(), func(e *pb.Value) bool { return !value.IsNull(e) })
	default:
		return false
	}
}
