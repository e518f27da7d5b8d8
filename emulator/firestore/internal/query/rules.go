package query

import (
	"fmt"
	"slices"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/internal/field"
	"truecost.dev/emulator/firestore/internal/resource"
	"truecost.dev/emulator/firestore/internal/value"
)

// The limits of the service on one query.
const (
	maxIn           = 30
	maxNotIn        = 10
	maxDisjunctions = 30
	maxFilterDepth  = 100 // nested composite filters; bounds the recursion
)

// rules collects what the limits on a whole filter are about.
type rules struct {
	negations int  // NOT_EQUAL, NOT_IN, IS_NOT_NAN, IS_NOT_NULL
	notIn     bool // NOT_IN
	choice    bool // IN, ARRAY_CONTAINS_ANY, OR
}

func checkFilter(f *pb.StructuredQuery_Filter) error {
	var r rules
	s, err := r.check(f, 0)
	if err != nil {
		return err
	}
	if r.negations > 1 {
		return invalidf("Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per query.")
	}
	if r.notIn && r.choice {
		return invalidf("'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'.")
	}
	if s.disjunctions > maxDisjunctions {
		return invalidf("The query requires %d disjunctions after normalization; the maximum is %d.", s.disjunctions, maxDisjunctions)
	}
	if s.contains > 1 {
		return invalidf("A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.")
	}
	in := inequalities(f)
	if equalsKey(f) && len(in) > 0 && !slices.Contains(in, field.DocumentName) {
		return invalidf("Equality on key is not allowed if there are other inequality fields and key does not appear in inequalities.")
	}
	return nil
}

// equalsKey tells whether f has a filter __name__ ==.
func equalsKey(f *pb.StructuredQuery_Filter) bool {
	if c := f.GetCompositeFilter(); c != nil {
		return slices.ContainsFunc(c.GetFilters(), equalsKey)
	}
	return f.GetFieldFilter().GetOp() == opEQ && f.GetFieldFilter().GetField().GetFieldPath() == field.DocumentName
}

// shape is a filter in disjunctive normal form: how many disjunctions it has
// and how many ARRAY_CONTAINS the one with the most of them.
type shape struct{ disjunctions, contains int }

func (r *rules) check(f *pb.StructuredQuery_Filter, depth int) (shape, error) {
	if depth > maxFilterDepth {
		return shape{}, invalidf("The filter is nested too deeply.")
	}
	switch x := f.GetFilterType().(type) {
	case *pb.StructuredQuery_Filter_CompositeFilter:
		return r.checkComposite(x.CompositeFilter, depth)
	case *pb.StructuredQuery_Filter_UnaryFilter:
		if op := x.UnaryFilter.GetOp(); op == opNotNaN || op == opNotNull {
			r.negations++
		}
	case *pb.StructuredQuery_Filter_FieldFilter:
		return r.checkField(x.FieldFilter)
	}
	return shape{disjunctions: 1}, nil
}

func (r *rules) checkComposite(f *pb.StructuredQuery_CompositeFilter, depth int) (shape, error) {
	if len(f.GetFilters()) == 0 {
		return shape{}, invalidf("A composite filter has no filters.")
	}
	either := f.GetOp() == pb.StructuredQuery_CompositeFilter_OR
	all := shape{disjunctions: 1}
	if either {
		r.choice = true
		all.disjunctions = 0
	}
	for _, sub := range f.GetFilters() {
		s, err := r.check(sub, depth+1)
		if err != nil {
			return shape{}, err
		}
		if either {
			all.disjunctions += s.disjunctions
			all.contains = max(all.contains, s.contains)
		} else {
			all.disjunctions *= s.disjunctions
			all.contains += s.contains
		}
		all.disjunctions = min(all.disjunctions, maxDisjunctions+1) // enough to be refused; never overflows
	}
	return all, nil
}

func (r *rules) checkField(f *pb.StructuredQuery_FieldFilter) (shape, error) {
	s := shape{disjunctions: 1}
	op, v := f.GetOp(), f.GetValue()
	if value.KindOf(v) == value.Unset {
		return s, invalidf("A field filter has no value.")
	}
	switch op {
	case opIn, opHasAny:
		r.choice = true
		s.disjunctions = len(v.GetArrayValue().GetValues())
		if err := checkList(op, v, maxIn); err != nil {
			return s, err
		}
	case opNotIn:
		r.notIn = true
		r.negations++
		if err := checkList(op, v, maxNotIn); err != nil {
			return s, err
		}
	case opNE:
		r.negations++
	default:
	}
	if op == opHas || op == opHasAny {
		s.contains = 1
	}
	if f.GetField().GetFieldPath() == field.DocumentName {
		return s, checkKeyOperand(op, v)
	}
	return s, nil
}

// checkList refuses an operand that is not a list of one to most values.
func checkList(op pb.StructuredQuery_FieldFilter_Operator, v *pb.Value, most int) error {
	switch n := len(v.GetArrayValue().GetValues()); {
	case value.KindOf(v) != value.Array || n == 0:
		return invalidf("'%s' requires an non-empty ArrayValue.", op)
	case n > most:
		return invalidf("'%s' supports up to %d comparison values.", op, most)
	default:
		return nil
	}
}

// checkKeyOperand refuses anything but names of documents beside __name__.
func checkKeyOperand(op pb.StructuredQuery_FieldFilter_Operator, v *pb.Value) error {
	operands := []*pb.Value{v}
	switch op {
	case opHas, opHasAny:
		return invalidf("'%s' cannot be applied to the document name.", op)
	case opIn, opNotIn:
		operands = v.GetArrayValue().GetValues()
	default:
	}
	for _, o := range operands {
		if value.KindOf(o) != value.Reference {
			return invalidf("__key__ filter value must be a Key")
		}
		if err := resource.CheckDocument(o.GetReferenceValue()); err != nil {
			return err
		}
	}
	return nil
}

func invalidf(format string, args ...any) error {
	return status.Error(codes.InvalidArgument, fmt.Sprintf(format, args...))
}

func unimplemented(what string) error {
	return status.Error(codes.Unimplemented, what+" is not supported by this emulator")
}
