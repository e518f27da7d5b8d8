package store

import (
	"cmp"
	"slices"
	"strings"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/internal/resource"
)

// Snapshot is the state of a store at one time.
type Snapshot struct {
	store  *Store
	at     int64
	locked bool // the holder of the store's lock looks, so no lock is taken
}

// Now returns the present state: every commit answered so far is in it.
func (s *Store) Now() Snapshot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return Snapshot{store: s, at: s.clock.read()}
}

// At returns the state at a time in microseconds. It returns INVALID_ARGUMENT
// for a time to come and FAILED_PRECONDITION for one that is too old.
func (s *Store) At(micros int64) (Snapshot, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if micros > s.clock.read() {
		return Snapshot{}, status.Error(codes.InvalidArgument, "The requested read time is in the future.")
	}
	if micros < s.oldest {
		return Snapshot{}, status.Error(codes.FailedPrecondition, "The requested snapshot version is too old.")
	}
	return Snapshot{store: s, at: micros}, nil
}

// Time is the read time in microseconds since 1970.
func (n Snapshot) Time() int64 { return n.at }

func (n Snapshot) lock() (unlock func()) {
	if n.locked {
		return func() {}
	}
	n.store.mu.RLock()
	return n.store.mu.RUnlock
}

// Get returns the named document, or nil.
func (n Snapshot) Get(name string) *pb.Document {
	defer n.lock()()
	return n.store.documents[name].at(n.at)
}

// Scope is the set of documents that a query looks at: those of the collections
// with a given id directly below a parent or, with Descendants, anywhere below
// it. An empty Collection means any collection.
type Scope struct {
	Parent      string // a document or the root of a database
	Collection  string
	Descendants bool
}

// Contains tells whether a document belongs to the scope.
func (c Scope) Contains(document string) bool {
	collection, _ := resource.Parent(document)
	return c.containsCollection(collection)
}

func (c Scope) containsCollection(name string) bool {
	rest, ok := strings.CutPrefix(name, c.Parent)
	if !ok || !strings.HasPrefix(rest, "/") {
		return false
	}
	rest = rest[1:]
	i := strings.LastIndexByte(rest, '/')
	if i >= 0 && !c.Descendants {
		return false
	}
	return c.Collection == "" || rest[i+1:] == c.Collection
}

// Scan calls visit for every document of the scope, in no particular order.
// Visit must not use the store.
func (n Snapshot) Scan(c Scope, visit func(*pb.Document)) {
	defer n.lock()()
	if !c.Descendants && c.Collection != "" {
		n.scanCollection(n.store.collections[c.Parent+"/"+c.Collection], visit)
		return
	}
	for name, docs := range n.store.collections {
		if c.containsCollection(name) {
			n.scanCollection(docs, visit)
		}
	}
}

func (n Snapshot) scanCollection(docs map[string]*history, visit func(*pb.Document)) {
	for _, h := range docs {
		if d := h.at(n.at); d != nil {
			visit(d)
		}
	}
}

// CollectionIDs returns the sorted ids of the collections directly below parent
// that have a document, or a document somewhere below them.
func (n Snapshot) CollectionIDs(parent string) []string {
	set := map[string]bool{}
	n.below(parent, func(id, _ string) { set[id] = true })
	ids := make([]string, 0, len(set))
	for id := range set {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Missing returns the sorted names of documents of a collection that do not
// exist but have documents below them.
func (n Snapshot) Missing(collection string) []string {
	set := map[string]bool{}
	n.below(collection, func(id, rest string) {
		if rest != "" {
			set[collection+"/"+id] = true
		}
	})
	var names []string
	for name := range set {
		if n.Get(name) == nil {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, resource.Compare)
	return names
}

// below calls visit for every collection with documents under prefix, with the
// first segment after prefix and what follows it.
func (n Snapshot) below(prefix string, visit func(id, rest string)) {
	defer n.lock()()
	for name, docs := range n.store.collections {
		tail, ok := strings.CutPrefix(name, prefix+"/")
		if !ok {
			continue
		}
		for _, h := range docs {
			if h.at(n.at) != nil {
				id, rest, _ := strings.Cut(tail, "/")
				visit(id, rest)
				break
			}
		}
	}
}

// Changed returns the names of the documents that commits after since and up to
// the snapshot wrote, each once, in the order of their first change. It reports
// false when the store no longer knows.
func (n Snapshot) Changed(since int64) ([]string, bool) {
	defer n.lock()()
	if since < n.store.oldest {
		return nil, false
	}
	log := n.store.log
	i, _ := slices.BinarySearchFunc(log, since+1, func(c change, t int64) int { return cmp.Compare(c.at, t) })
	var names []string
	seen := map[string]bool{}
	for _, c := range log[i:] {
		if c.at > n.at {
			break
		}
		for _, name := range c.names {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names, true
}
