package query

import (
	"cmp"
	"slices"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"

	"truecost.dev/emulator/firestore/internal/field"
	"truecost.dev/emulator/firestore/internal/resource"
	"truecost.dev/emulator/firestore/internal/store"
)

// Query is a compiled query. It is immutable.
type Query struct {
	scopes  []store.Scope
	matches predicate // nil: everything
	order   []order
	start   *bound
	end     *bound
	offset  int
	limit   int // -1: none
	fields  []field.Path
	project bool
}

// Compile reads a query below parent, a document or the root of a database. It
// returns INVALID_ARGUMENT for a query that the service refuses.
func Compile(parent string, q *pb.StructuredQuery) (*Query, error) {
	return compile(parent, q, nil)
}

// compile is Compile for a query whose documents must have some more fields;
// like fields with inequalities, these take part in the order.
func compile(parent string, q *pb.StructuredQuery, fields []string) (*Query, error) {
	if q == nil {
		return nil, invalidf("A structured query is required.")
	}
	if err := resource.CheckParent(parent); err != nil {
		return nil, err
	}
	c := &Query{limit: -1, offset: int(q.GetOffset())}
	if q.GetLimit() != nil {
		c.limit = int(q.GetLimit().GetValue())
	}
	switch {
	case q.GetLimit().GetValue() < 0:
		return nil, invalidf("limit is negative")
	case c.offset < 0:
		return nil, invalidf("offset is negative")
	case q.GetFindNearest() != nil:
		return nil, unimplemented("find_nearest")
	}
	if err := c.compileFrom(parent, q.GetFrom()); err != nil {
		return nil, err
	}
	if err := c.compileOrder(q, fields); err != nil {
		return nil, err
	}
	steps := []func(*pb.StructuredQuery) error{c.compileFilter, c.compileCursors, c.compileSelect}
	for _, step := range steps {
		if err := step(q); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Query) compileFrom(parent string, from []*pb.StructuredQuery_CollectionSelector) error {
	if len(from) > 1 {
		return invalidf("A query may have one collection selector.")
	}
	if len(from) == 0 { // every document below the parent
		c.scopes = []store.Scope{{Parent: parent, Descendants: true}}
		return nil
	}
	id := from[0].GetCollectionId()
	if id != "" && resource.Reserved(id) {
		return invalidf("Collection id \"%s\" is invalid because it is reserved.", id)
	}
	if id != "" {
		if err := resource.CheckID(id); err != nil {
			return err
		}
	}
	c.scopes = []store.Scope{{Parent: parent, Collection: id, Descendants: from[0].GetAllDescendants()}}
	return nil
}

func (c *Query) compileSelect(q *pb.StructuredQuery) error {
	if q.GetSelect() == nil || len(q.GetSelect().GetFields()) == 0 {
		return nil
	}
	c.project = true
	for _, f := range q.GetSelect().GetFields() {
		p, err := field.Parse(f.GetFieldPath())
		if err != nil {
			return err
		}
		if p[0] != field.DocumentName {
			c.fields = append(c.fields, p)
		}
	}
	return nil
}

// Includes tells whether a document satisfies the query before offset and
// limit, which depend on other documents.
func (c *Query) Includes(d *pb.Document) bool {
	if !slices.ContainsFunc(c.scopes, func(s store.Scope) bool { return s.Contains(d.GetName()) }) {
		return false
	}
	_, ok := c.admit(d)
	return ok
}

// Covers tells whether a document of that name could be in the result.
func (c *Query) Covers(name string) bool {
	return slices.ContainsFunc(c.scopes, func(s store.Scope) bool { return s.Contains(name) })
}

// Windowed tells whether the query has an offset or a limit, so that one
// document can push another out of the result.
func (c *Query) Windowed() bool { return c.offset > 0 || c.limit >= 0 }

// row is a document with the values it is sorted by.
type row struct {
	doc  *pb.Document
	keys []*pb.Value
}

// admit returns the row of a document of the scope, if it satisfies the filter,
// has every ordered field and lies between the cursors.
func (c *Query) admit(d *pb.Document) (row, bool) {
	if c.matches != nil && !c.matches(d) {
		return row{}, false
	}
	r := row{doc: d, keys: make([]*pb.Value, len(c.order))}
	for i, o := range c.order {
		if r.keys[i] = fieldOf(d, o.path); r.keys[i] == nil {
			return row{}, false
		}
	}
	if c.start != nil && !c.start.after(c.order, r.keys) || c.end != nil && c.end.after(c.order, r.keys) {
		return row{}, false
	}
	return r, true
}

// Run returns the documents of the result in order, whole and unprojected.
func (c *Query) Run(at store.Snapshot) []*pb.Document {
	var rows []row
	for _, scope := range c.scopes {
		at.Scan(scope, func(d *pb.Document) {
			if r, ok := c.admit(d); ok {
				rows = append(rows, r)
			}
		})
	}
	slices.SortFunc(rows, func(a, b row) int { return compareKeys(c.order, a.keys, b.keys) })
	rows = rows[min(c.offset, len(rows)):]
	if c.limit >= 0 {
		rows = rows[:min(c.limit, len(rows))]
	}
	docs := make([]*pb.Document, len(rows))
	for i, r := range rows {
		docs[i] = r.doc
	}
	return docs
}

// Project returns what the query selects of a document of its result.
func (c *Query) Project(d *pb.Document) *pb.Document {
	if !c.project {
		return d
	}
	return field.Mask(d, c.fields)
}

func compareKeys(o []order, a, b []*pb.Value) int {
	for i := range min(len(a), len(b)) {
		if c := o[i].compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}
