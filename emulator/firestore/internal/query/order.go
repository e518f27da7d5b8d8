package query

import (
	"slices"
	"strings"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/internal/field"
	"truecost.dev/emulator/firestore/internal/resource"
	"truecost.dev/emulator/firestore/internal/value"
)

// order is one key that a result is sorted by.
type order struct {
	name       string // the path as text
	path       field.Path
	descending bool
}

func (o order) compare(a, b *pb.Value) int {
	if o.descending {
		return value.Compare(b, a)
	}
	return value.Compare(a, b)
}

// fieldOf returns a field of a document, the name of the document for __name__,
// or nil.
func fieldOf(d *pb.Document, p field.Path) *pb.Value {
	if p[0] == field.DocumentName {
		return value.NewReference(d.GetName())
	}
	return p.Get(d.GetFields())
}

// compileOrder derives the effective order: what the query asks for, then every
// field with an inequality (or in fields) that is not yet there, by path, then
// the name. What is implied takes the last direction asked for.
func (c *Query) compileOrder(q *pb.StructuredQuery, fields []string) error {
	descending := false
	for _, o := range q.GetOrderBy() {
		p, err := field.Parse(o.GetField().GetFieldPath())
		if err != nil {
			return err
		}
		descending = o.GetDirection() == pb.StructuredQuery_DESCENDING
		c.order = append(c.order, order{name: p.String(), path: p, descending: descending})
	}
	ordered := func(name string) bool {
		return slices.ContainsFunc(c.order, func(o order) bool { return o.name == name })
	}
	compared := inequalities(q.GetWhere())
	onKey := ordered(field.DocumentName) || slices.Contains(compared, field.DocumentName) || equalsKey(q.GetWhere())
	if err := c.checkKeyScan(q, descending); err != nil {
		return err
	}
	implied := slices.Concat(compared, fields)
	slices.Sort(implied)
	for _, name := range slices.Compact(implied) {
		if name == field.DocumentName || ordered(name) {
			continue
		}
		if onKey && !slices.Contains(compared, name) {
			return invalidf("This query requires an index that has fields [%s] after __name__ and Firestore does not currently support "+
				"such an index. Please try the query again with additional ordering on those fields.", strings.Join(fields, ", "))
		}
		p, err := field.Parse(name)
		if err != nil {
			return err
		}
		c.order = append(c.order, order{name: name, path: p, descending: descending})
	}
	if !ordered(field.DocumentName) {
		c.order = append(c.order, order{name: field.DocumentName, path: field.Path{field.DocumentName}, descending: descending})
	}
	if c.order[len(c.order)-1].name != field.DocumentName {
		return invalidf("order by clause cannot contain more fields after the key")
	}
	return nil
}

// checkKeyScan refuses a query that reads a collection by descending name and
// nothing else, for which there is no automatic index.
func (c *Query) checkKeyScan(q *pb.StructuredQuery, descending bool) error {
	if !descending || len(c.order) != 1 || c.order[0].name != field.DocumentName {
		return nil
	}
	others := false
	walk(q.GetWhere(), func(path string, _ bool) { others = others || path != field.DocumentName })
	if others {
		return nil
	}
	return status.Error(codes.FailedPrecondition, "Firestore does not support descending key scans")
}

// bound is a cursor: a position in the effective order, given by values for its
// first keys.
type bound struct {
	values []*pb.Value
	before bool // the position is before, not after, the documents equal to values
}

func (c *Query) compileCursors(q *pb.StructuredQuery) error {
	var err error
	if c.start, err = c.compileCursor(q.GetStartAt()); err != nil {
		return err
	}
	c.end, err = c.compileCursor(q.GetEndAt())
	return err
}

func (c *Query) compileCursor(cursor *pb.Cursor) (*bound, error) {
	if cursor == nil {
		return nil, nil //nolint:nilnil // no cursor is not an error
	}
	if len(cursor.GetValues()) > len(c.order) {
		return nil, invalidf("Cursor has too many values.")
	}
	values := make([]*pb.Value, len(cursor.GetValues()))
	for i, v := range cursor.GetValues() {
		values[i] = value.Truncate(v)
		if c.order[i].name != field.DocumentName {
			continue
		}
		if value.KindOf(v) != value.Reference {
			return nil, invalidf("Cursor values for the document name must be references.")
		}
		if err := resource.CheckDocument(v.GetReferenceValue()); err != nil {
			return nil, err
		}
	}
	return &bound{values: values, before: cursor.GetBefore()}, nil
}

// after tells whether a document with these keys stands after the position.
func (b *bound) after(o []order, keys []*pb.Value) bool {
	if c := compareKeys(o, keys[:len(b.values)], b.values); c != 0 {
		return c > 0
	}
	return b.before
}
