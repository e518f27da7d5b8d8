package query

import (
	"fmt"
	"math"
	"math/big"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"

	"truecost.dev/emulator/firestore/internal/field"
	"truecost.dev/emulator/firestore/internal/value"
)

// maxAggregations is how many aggregations one query may have.
const maxAggregations = 5

// Aggregation is a compiled aggregation over the result of a query.
type Aggregation struct {
	Query   *Query
	outputs []output
}

// output is one aggregate.
type output struct {
	alias string
	path  field.Path // nil for count
	upTo  int64      // for count; -1: no bound
	mean  bool
}

// CompileAggregation reads an aggregation query. It returns INVALID_ARGUMENT
// for one that the service refuses.
func CompileAggregation(parent string, q *pb.StructuredAggregationQuery) (*Aggregation, error) {
	a := &Aggregation{}
	switch n := len(q.GetAggregations()); {
	case n == 0:
		return nil, invalidf("At least one aggregation is required.")
	case n > maxAggregations:
		return nil, invalidf("The maximum number of aggregations allowed in an aggregation query is %d. Received: %d", maxAggregations, n)
	}
	var fields []string
	seen := map[string]bool{}
	for i, raw := range q.GetAggregations() {
		o, err := compileOutput(raw, i)
		if err != nil {
			return nil, err
		}
		if seen[o.alias] {
			return nil, invalidf("Duplicate alias: %s", o.alias)
		}
		seen[o.alias] = true
		if o.path != nil {
			fields = append(fields, o.path.String())
		}
		a.outputs = append(a.outputs, o)
	}
	var err error
	a.Query, err = compile(parent, q.GetStructuredQuery(), fields)
	return a, err
}

func compileOutput(raw *pb.StructuredAggregationQuery_Aggregation, i int) (output, error) {
	o := output{alias: raw.GetAlias(), upTo: -1}
	if o.alias == "" {
		o.alias = fmt.Sprintf("field_%d", i+1)
	}
	var path string
	switch x := raw.GetOperator().(type) {
	case *pb.StructuredAggregationQuery_Aggregation_Count_:
		if u := x.Count.GetUpTo(); u != nil {
			if u.GetValue() <= 0 {
				return o, invalidf("up_to must be greater than zero")
			}
			o.upTo = u.GetValue()
		}
		return o, nil
	case *pb.StructuredAggregationQuery_Aggregation_Sum_:
		path = x.Sum.GetField().GetFieldPath()
	case *pb.StructuredAggregationQuery_Aggregation_Avg_:
		path, o.mean = x.Avg.GetField().GetFieldPath(), true
	default:
		return o, invalidf("An aggregation has no operator.")
	}
	var err error
	o.path, err = field.Parse(path)
	return o, err
}

// Run aggregates the result of Query.
func (a *Aggregation) Run(docs []*pb.Document) map[string]*pb.Value {
	out := make(map[string]*pb.Value, len(a.outputs))
	for _, o := range a.outputs {
		out[o.alias] = o.of(docs)
	}
	return out
}

func (o output) of(docs []*pb.Document) *pb.Value {
	if o.path == nil {
		n := int64(len(docs))
		if o.upTo >= 0 {
			n = min(n, o.upTo)
		}
		return value.NewInt(n)
	}
	var s sum
	for _, d := range docs {
		s.add(fieldOf(d, o.path))
	}
	switch {
	case !o.mean:
		return s.total()
	case s.n == 0:
		return value.NewNull()
	default:
		return value.NewFloat(s.float() / float64(s.n))
	}
}

// sum adds numbers: integers exactly, doubles with Neumaier's compensation, so
// that the result depends as little as possible on the order of documents.
type sum struct {
	n            int // numbers seen
	ints         big.Int
	hasDoubles   bool
	doubles      float64
	compensation float64
}

func (s *sum) add(v *pb.Value) {
	if i, ok := value.AsInt(v); ok {
		s.n++
		s.ints.Add(&s.ints, big.NewInt(i))
		return
	}
	if !value.IsNumber(v) {
		return
	}
	s.n++
	s.hasDoubles = true
	s.accumulate(v.GetDoubleValue())
}

func (s *sum) accumulate(x float64) {
	t := s.doubles + x
	if math.Abs(s.doubles) >= math.Abs(x) {
		s.compensation += (s.doubles - t) + x
	} else {
		s.compensation += (x - t) + s.doubles
	}
	s.doubles = t
}

// total is an integer when only integers were added and their sum is one.
func (s *sum) total() *pb.Value {
	if !s.hasDoubles && s.ints.IsInt64() {
		return value.NewInt(s.ints.Int64())
	}
	return value.NewFloat(s.float())
}

func (s *sum) float() float64 {
	all := *s
	whole, _ := new(big.Float).SetInt(&s.ints).Float64()
	all.accumulate(whole)
	if math.IsNaN(all.compensation) || math.IsInf(all.compensation, 0) {
		return all.doubles // infinities leave nothing to compensate
	}
	return all.doubles + all.compensation
}
