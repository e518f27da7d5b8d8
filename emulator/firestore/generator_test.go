package firestore_test

import (
	"math"
	"math/rand/v2"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// generator makes random requests about few documents and fields, so that they
// meet one another often.
type generator struct {
	*rand.Rand
	database string
}

func (g *generator) root() string { return g.database + "/documents" }

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) name() string {
	return g.root() + "/" + pick(g, "c/1", "c/2", "c/3", "c/4", "c/5", "c/1/s/1", "c/1/s/2", "c/9/s/1", "e/1")
}

func (g *generator) field() string { return pick(g, "a", "b", "m.x", "m.y", "m.`o.d`") }

func (g *generator) operation() proto.Message {
	switch n := g.IntN(20); {
	case n < 9:
		return &pb.CommitRequest{Database: g.database, Writes: g.writes()}
	case n < 11:
		return &pb.GetDocumentRequest{Name: g.name(), Mask: g.mask()}
	case n < 12:
		return &pb.ListDocumentsRequest{Parent: g.root(), CollectionId: "c", ShowMissing: g.IntN(2) == 0}
	case n < 18:
		return &pb.RunQueryRequest{Parent: g.root(), QueryType: &pb.RunQueryRequest_StructuredQuery{StructuredQuery: g.query()}}
	default:
		q := g.query()
		q.Select = nil
		return &pb.RunAggregationQueryRequest{Parent: g.root(), QueryType: &pb.RunAggregationQueryRequest_StructuredAggregationQuery{
			StructuredAggregationQuery: &pb.StructuredAggregationQuery{
				QueryType:    &pb.StructuredAggregationQuery_StructuredQuery{StructuredQuery: q},
				Aggregations: g.aggregations(),
			},
		}}
	}
}

func (g *generator) writes() []*pb.Write {
	ws := make([]*pb.Write, pick(g, 1, 1, 1, 2, 3))
	for i := range ws {
		ws[i] = g.write()
	}
	return ws
}

func (g *generator) write() *pb.Write {
	w := &pb.Write{CurrentDocument: g.precondition()}
	if g.IntN(6) == 0 {
		w.Operation = &pb.Write_Delete{Delete: g.name()}
		return w
	}
	doc := &pb.Document{Name: g.name(), Fields: map[string]*pb.Value{}}
	for _, f := range []string{"a", "b"} {
		if g.IntN(3) > 0 {
			doc.Fields[f] = g.value(0)
		}
	}
	if g.IntN(2) == 0 {
		doc.Fields["m"] = g.mapValue(1)
	}
	w.Operation = &pb.Write_Update{Update: doc}
	w.UpdateMask = g.mask()
	switch g.IntN(8) {
	case 0, 1:
		w.UpdateTransforms = append(w.UpdateTransforms, g.transform())
	case 2:
		g.removeFrom(w, doc)
	}
	return w
}

// removeFrom removes elements from an array that keeps at least one: the
// official emulator takes the empty array that a transform leaves for another
// value than the one that is written, so that writing it is no idle write.
func (g *generator) removeFrom(w *pb.Write, doc *pb.Document) {
	kept := append(g.arrayOf(2).GetValues(), stringValue("kept"))
	doc.Fields["a"] = &pb.Value{ValueType: &pb.Value_ArrayValue{ArrayValue: &pb.ArrayValue{Values: kept}}}
	w.UpdateMask = nil
	w.UpdateTransforms = []*pb.DocumentTransform_FieldTransform{{
		FieldPath:     "a",
		TransformType: &pb.DocumentTransform_FieldTransform_RemoveAllFromArray{RemoveAllFromArray: g.arrayOf(3)},
	}}
}

func (g *generator) precondition() *pb.Precondition {
	switch g.IntN(8) {
	case 0, 1:
		return &pb.Precondition{ConditionType: &pb.Precondition_Exists{Exists: g.IntN(2) == 0}}
	case 2: // the last but so many updates, which each side turns into a time of its own
		return &pb.Precondition{ConditionType: &pb.Precondition_UpdateTime{UpdateTime: &timestamppb.Timestamp{Seconds: int64(pick(g, 1, 1, 1, 2))}}}
	default:
		return nil
	}
}

func (g *generator) mask() *pb.DocumentMask {
	switch g.IntN(4) {
	case 0:
		return &pb.DocumentMask{FieldPaths: []string{pick(g, "a", "b"), pick(g, "m.x", "m.y", "m.`o.d`")}}
	case 1:
		return &pb.DocumentMask{FieldPaths: []string{"m"}}
	default:
		return nil
	}
}

func (g *generator) transform() *pb.DocumentTransform_FieldTransform {
	t := &pb.DocumentTransform_FieldTransform{FieldPath: pick(g, "a", "b", "m.x")}
	switch g.IntN(4) {
	case 0:
		t.TransformType = &pb.DocumentTransform_FieldTransform_Increment{Increment: g.number()}
	case 1:
		t.TransformType = &pb.DocumentTransform_FieldTransform_Maximum{Maximum: g.number()}
	case 2:
		t.TransformType = &pb.DocumentTransform_FieldTransform_Minimum{Minimum: g.number()}
	default:
		a := g.arrayOf(2)
		a.Values = append(a.Values, g.number())
		t.TransformType = &pb.DocumentTransform_FieldTransform_AppendMissingElements{AppendMissingElements: a}
	}
	return t
}

func intValue(i int64) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_IntegerValue{IntegerValue: i}}
}

func floatValue(f float64) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_DoubleValue{DoubleValue: f}}
}

func stringValue(s string) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_StringValue{StringValue: s}}
}

func (g *generator) number() *pb.Value {
	if g.IntN(2) == 0 {
		return intValue(pick(g, int64(-3), 0, 1, 2, 7, math.MaxInt64, math.MinInt64))
	}
	return floatValue(pick(g, -1.5, 0, 1, 2.5, 1e30, math.Inf(1), math.Inf(-1), math.NaN()))
}

func (g *generator) value(depth int) *pb.Value {
	switch g.IntN(14) {
	case 0:
		return &pb.Value{ValueType: &pb.Value_NullValue{}}
	case 1:
		return &pb.Value{ValueType: &pb.Value_BooleanValue{BooleanValue: g.IntN(2) == 0}}
	case 2:
		return &pb.Value{ValueType: &pb.Value_TimestampValue{TimestampValue: &timestamppb.Timestamp{Seconds: int64(g.IntN(3)), Nanos: int32(g.IntN(3) * 500)}}}
	case 3, 4:
		return stringValue(pick(g, "", "a", "b", "ä", "aa", "😀", "\uffff"))
	case 5:
		return &pb.Value{ValueType: &pb.Value_BytesValue{BytesValue: []byte(pick(g, "", "a", "\x00", "\xff"))}}
	case 6:
		return &pb.Value{ValueType: &pb.Value_ReferenceValue{ReferenceValue: g.name()}}
	case 7:
		return &pb.Value{ValueType: &pb.Value_GeoPointValue{GeoPointValue: &latlng.LatLng{Latitude: float64(g.IntN(3)), Longitude: float64(g.IntN(2))}}}
	case 8, 9:
		if depth < 2 {
			return &pb.Value{ValueType: &pb.Value_ArrayValue{ArrayValue: g.arrayOf(3)}}
		}
	case 10:
		if depth < 2 {
			return g.mapValue(depth + 1)
		}
	}
	return g.number()
}

func (g *generator) arrayOf(most int) *pb.ArrayValue {
	a := &pb.ArrayValue{}
	for range g.IntN(most + 1) {
		v := g.value(2) // neither arrays nor maps inside
		a.Values = append(a.Values, v)
	}
	return a
}

func (g *generator) mapValue(depth int) *pb.Value {
	m := &pb.MapValue{Fields: map[string]*pb.Value{}}
	for _, k := range []string{"x", "y", "o.d"} {
		if g.IntN(2) == 0 {
			m.Fields[k] = g.value(depth)
		}
	}
	return &pb.Value{ValueType: &pb.Value_MapValue{MapValue: m}}
}

func (g *generator) aggregations() []*pb.StructuredAggregationQuery_Aggregation {
	path := func() *pb.StructuredQuery_FieldReference {
		return &pb.StructuredQuery_FieldReference{FieldPath: pick(g, "a", "b")}
	}
	switch g.IntN(3) {
	case 0:
		c := &pb.StructuredAggregationQuery_Aggregation_Count{}
		if g.IntN(2) == 0 {
			c.UpTo = wrapperspb.Int64(int64(1 + g.IntN(3)))
		}
		return []*pb.StructuredAggregationQuery_Aggregation{{Alias: "n", Operator: &pb.StructuredAggregationQuery_Aggregation_Count_{Count: c}}}
	default:
		return []*pb.StructuredAggregationQuery_Aggregation{
			{Alias: "s", Operator: &pb.StructuredAggregationQuery_Aggregation_Sum_{Sum: &pb.StructuredAggregationQuery_Aggregation_Sum{Field: path()}}},
			{Alias: "v", Operator: &pb.StructuredAggregationQuery_Aggregation_Avg_{Avg: &pb.StructuredAggregationQuery_Aggregation_Avg{Field: path()}}},
		}
	}
}

func (g *generator) query() *pb.StructuredQuery {
	q := &pb.StructuredQuery{From: []*pb.StructuredQuery_CollectionSelector{{
		CollectionId: pick(g, "c", "c", "c", "s"), AllDescendants: g.IntN(4) == 0,
	}}}
	if g.IntN(4) > 0 {
		q.Where = g.filter(0)
	}
	for range pick(g, 0, 0, 1, 2) {
		q.OrderBy = append(q.OrderBy, &pb.StructuredQuery_Order{
			Field:     &pb.StructuredQuery_FieldReference{FieldPath: pick(g, "a", "b", "m.x", "__name__")},
			Direction: pick(g, pb.StructuredQuery_ASCENDING, pb.StructuredQuery_DESCENDING),
		})
	}
	if len(q.OrderBy) == 2 && q.OrderBy[0].Field.FieldPath == q.OrderBy[1].Field.FieldPath {
		q.OrderBy = q.OrderBy[:1]
	}
	if len(q.OrderBy) > 0 && g.IntN(3) == 0 {
		q.StartAt = &pb.Cursor{Values: []*pb.Value{g.cursorValue(q)}, Before: g.IntN(2) == 0}
	}
	if len(q.OrderBy) > 0 && g.IntN(3) == 0 {
		q.EndAt = &pb.Cursor{Values: []*pb.Value{g.cursorValue(q)}, Before: g.IntN(2) == 0}
	}
	if g.IntN(3) == 0 {
		q.Limit = wrapperspb.Int32(int32(g.IntN(4)))
	}
	if g.IntN(5) == 0 {
		q.Offset = int32(g.IntN(3))
	}
	if g.IntN(5) == 0 {
		q.Select = &pb.StructuredQuery_Projection{Fields: []*pb.StructuredQuery_FieldReference{{FieldPath: g.field()}}}
	}
	return q
}

func (g *generator) cursorValue(q *pb.StructuredQuery) *pb.Value {
	if q.GetOrderBy()[0].GetField().GetFieldPath() == "__name__" {
		return &pb.Value{ValueType: &pb.Value_ReferenceValue{ReferenceValue: g.name()}}
	}
	return g.value(0)
}

func (g *generator) filter(depth int) *pb.StructuredQuery_Filter {
	switch n := g.IntN(6); {
	case n == 0 && depth < 2:
		return &pb.StructuredQuery_Filter{FilterType: &pb.StructuredQuery_Filter_CompositeFilter{CompositeFilter: &pb.StructuredQuery_CompositeFilter{
			Op:      pick(g, pb.StructuredQuery_CompositeFilter_AND, pb.StructuredQuery_CompositeFilter_OR),
			Filters: []*pb.StructuredQuery_Filter{g.filter(depth + 1), g.filter(depth + 1)},
		}}}
	case n == 1:
		return &pb.StructuredQuery_Filter{FilterType: &pb.StructuredQuery_Filter_UnaryFilter{UnaryFilter: &pb.StructuredQuery_UnaryFilter{
			Op:          pb.StructuredQuery_UnaryFilter_Operator(2 + g.IntN(4)),
			OperandType: &pb.StructuredQuery_UnaryFilter_Field{Field: &pb.StructuredQuery_FieldReference{FieldPath: g.field()}},
		}}}
	default:
		return g.fieldFilter()
	}
}

func (g *generator) fieldFilter() *pb.StructuredQuery_Filter {
	if g.IntN(8) == 0 {
		return &pb.StructuredQuery_Filter{FilterType: &pb.StructuredQuery_Filter_FieldFilter{FieldFilter: &pb.StructuredQuery_FieldFilter{
			Field: &pb.StructuredQuery_FieldReference{FieldPath: "__name__"},
			Op:    pb.StructuredQuery_FieldFilter_Operator(1 + g.IntN(6)), // up to NOT_EQUAL
			Value: &pb.Value{ValueType: &pb.Value_ReferenceValue{ReferenceValue: g.name()}},
		}}}
	}
	f := &pb.StructuredQuery_FieldFilter{
		Field: &pb.StructuredQuery_FieldReference{FieldPath: g.field()},
		Op:    pb.StructuredQuery_FieldFilter_Operator(1 + g.IntN(10)),
		Value: g.value(0),
	}
	switch f.Op {
	case pb.StructuredQuery_FieldFilter_IN, pb.StructuredQuery_FieldFilter_NOT_IN, pb.StructuredQuery_FieldFilter_ARRAY_CONTAINS_ANY:
		f.Value = &pb.Value{ValueType: &pb.Value_ArrayValue{ArrayValue: g.arrayOf(3)}}
	default:
	}
	return &pb.StructuredQuery_Filter{FilterType: &pb.StructuredQuery_Filter_FieldFilter{FieldFilter: f}}
}
