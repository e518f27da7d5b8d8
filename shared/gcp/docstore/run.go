package docstore

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/runner"
)

// putRun writes a run: creates it, or replaces what changed since the version
// that was read.
func (b *batch) putRun(r *runner.Run) {
	ref := b.store.run(r.RunID())
	if !r.Version.IsZero() {
		list, err := runUpdates(r)
		if !b.fail(err) {
			b.writes.Update(ref, list, firestore.LastUpdateTime(r.Version))
		}
		return
	}
	m, err := fields(r)
	if b.fail(err) {
		return
	}
	for _, member := range changes(r, nil) {
		if at, ok := timestamp(member.now); ok && !member.gone {
			m[member.name] = at
		}
	}
	if r.EndedAt != nil {
		m["expireAt"] = r.EndedAt.Add(runKept)
	}
	b.writes.Create(ref, m)
}

// member is a member of a run's document.
type member struct {
	name  string
	known bool // what it was
	gone  bool // it is left out of the document
	now   reflect.Value
}

// changes lists the members of a run that are not what they were, all of them
// where that is not known.
func changes(r, was *runner.Run) []member {
	var list []member
	for _, part := range []func(*runner.Run) reflect.Value{
		func(r *runner.Run) reflect.Value { return reflect.ValueOf(&r.State).Elem() },
		func(r *runner.Run) reflect.Value { return reflect.ValueOf(&r.Journal).Elem() },
		func(r *runner.Run) reflect.Value { return reflect.ValueOf(&r.Shown).Elem() },
	} {
		now := part(r)
		for i := range now.NumField() {
			if was != nil && reflect.DeepEqual(part(was).Field(i).Interface(), now.Field(i).Interface()) {
				continue
			}
			name, option, _ := strings.Cut(now.Type().Field(i).Tag.Get("json"), ",")
			list = append(list, member{name, was != nil, option == "omitempty" && now.Field(i).IsZero(), now.Field(i)})
		}
	}
	return list
}

// timestamp returns a member that is a time: what is queried or expires must be
// a timestamp, not text.
func timestamp(v reflect.Value) (at any, ok bool) {
	switch t := v.Interface().(type) {
	case time.Time:
		return t, true
	case *time.Time:
		if t == nil {
			return nil, true
		}
		return *t, true
	default:
		return nil, false
	}
}

// runUpdates lists what a commit changes in the document of a run: of the nodes
// each by itself, since a step moves one or two of many.
func runUpdates(r *runner.Run) ([]firestore.Update, error) {
	var list []firestore.Update
	encoded, removed := map[string]any{}, []string{}
	for _, m := range changes(r, r.Was) {
		at, isTime := timestamp(m.now)
		switch {
		case m.gone:
			removed = append(removed, m.name) // it had a value before, perhaps
		case isTime:
			list = append(list, firestore.Update{FieldPath: firestore.FieldPath{m.name}, Value: at})
		case m.name == "nodes" && m.known:
			nodes, err := nodeUpdates(r)
			if err != nil {
				return nil, err
			}
			list = append(list, nodes...)
		default:
			encoded[m.name] = m.now.Interface()
		}
	}
	encoded, err := fields(encoded)
	if err != nil {
		return nil, err
	}
	for _, name := range removed {
		encoded[name] = firestore.Delete
	}
	if r.EndedAt != nil {
		encoded["expireAt"] = r.EndedAt.Add(runKept)
	}
	return append(list, updates(encoded)...), nil
}

func nodeUpdates(r *runner.Run) ([]firestore.Update, error) {
	var list []firestore.Update
	for _, name := range slices.Sorted(maps.Keys(r.Nodes)) {
		was, there := r.Was.Nodes[name]
		if there && reflect.DeepEqual(was, r.Nodes[name]) {
			continue
		}
		node, err := fields(r.Nodes[name])
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", name, err)
		}
		list = append(list, firestore.Update{FieldPath: firestore.FieldPath{"nodes", name}, Value: node})
	}
	return list, nil
}
