package store

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/internal/resource"
	"truecost.dev/emulator/journal"
)

// Retention is how long old versions can be read and listeners can resume.
const Retention = time.Hour

// Options configure a Store; the zero value works.
type Options struct {
	Now         func() time.Time // the wall clock; nil means time.Now
	Optimistic  bool             // transactions take no locks and are validated when they commit
	LockTimeout time.Duration    // how long to wait for other transactions; 0 means 5 s

	Journal journal.Options // of a store that Open opens; the kind is the store's
}

// Store is a multi-version store of documents of any number of databases.
type Store struct {
	clock       clock
	journal     *journal.Journal // nil: in memory alone
	optimistic  bool
	lockTimeout time.Duration

	mu          sync.RWMutex // guards everything below
	documents   map[string]*history
	collections map[string]map[string]*history // by collection name, then document name
	log         []change                       // ascending by time
	oldest      int64                          // the earliest time that can be read exactly
	watchers    map[chan struct{}]struct{}
	locks       locks
	txSeq       int64
}

// history is what became of one document, ascending by time.
type history struct {
	name     string
	versions []version
}

type version struct {
	at  int64
	doc *pb.Document // nil: deleted
}

// change is one commit: which documents it changed.
type change struct {
	at    int64
	names []string
}

// New returns an empty store.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = 5 * time.Second
	}
	return &Store{
		clock:       clock{now: o.Now, keep: func(int64) error { return nil }}, // memory outlives no process
		optimistic:  o.Optimistic,
		lockTimeout: o.LockTimeout,
		documents:   map[string]*history{},
		collections: map[string]map[string]*history{},
		watchers:    map[chan struct{}]struct{}{},
		locks:       newLocks(),
	}
}

// at returns the document at time t, nil when there was none.
func (h *history) at(t int64) *pb.Document {
	if h == nil {
		return nil
	}
	for _, v := range slices.Backward(h.versions) {
		if v.at <= t {
			return v.doc
		}
	}
	return nil
}

// put records doc (nil: deleted) as the state of name from time at on. The
// caller holds mu.
func (s *Store) put(name string, at int64, doc *pb.Document) {
	h := s.documents[name]
	if h == nil {
		h = &history{name: name}
		s.documents[name] = h
		collection, _ := resource.Parent(name)
		if s.collections[collection] == nil {
			s.collections[collection] = map[string]*history{}
		}
		s.collections[collection][name] = h
	}
	h.versions = append(h.versions, version{at: at, doc: doc})
}

// trim forgets versions that nobody may ask for any more. The caller holds mu.
func (s *Store) trim(now int64) {
	horizon := now - Retention.Microseconds()
	n := 0
	for ; n < len(s.log) && s.log[n].at < horizon; n++ {
		for _, name := range s.log[n].names {
			s.trimDocument(name, horizon)
		}
	}
	s.log = s.log[n:]
	s.oldest = max(s.oldest, horizon)
}

func (s *Store) trimDocument(name string, horizon int64) {
	h := s.documents[name]
	if h == nil {
		return
	}
	for len(h.versions) > 1 && h.versions[1].at <= horizon {
		h.versions = h.versions[1:]
	}
	if len(h.versions) > 1 || h.versions[0].doc != nil || h.versions[0].at > horizon {
		return
	}
	s.forget(name)
}

// forget removes a document with its history. The caller holds mu.
func (s *Store) forget(name string) {
	collection, _ := resource.Parent(name)
	delete(s.documents, name)
	delete(s.collections[collection], name)
	if len(s.collections[collection]) == 0 {
		delete(s.collections, collection)
	}
}

// Watch returns a channel that holds a token whenever something has been
// committed since the token was last taken, and a function that ends the watch.
func (s *Store) Watch() (wake <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	s.watchers[c] = struct{}{}
	s.mu.Unlock()
	return c, func() {
		s.mu.Lock()
		delete(s.watchers, c)
		s.mu.Unlock()
	}
}

// Wipe deletes every document of a database (given by its root) in one commit
// and returns how many there were. Listeners see the deletes.
func (s *Store) Wipe(root string) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.clock.commit()
	gone := map[string]*pb.Document{}
	for name, h := range s.documents {
		if strings.HasPrefix(name, root+"/") && h.at(at) != nil {
			gone[name] = nil
		}
	}
	return len(gone), s.write(at, gone)
}

// write makes changed (nil: deleted) the state of its documents from time at on:
// in the journal first, then for everybody to see. The caller holds mu.
func (s *Store) write(at int64, changed map[string]*pb.Document) error {
	if len(changed) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(changed))
	if err := s.keep(at, names, changed); err != nil {
		return err
	}
	for _, name := range names {
		s.put(name, at, changed[name])
	}
	s.publish(at, names)
	s.compact()
	return nil
}

// publish makes a commit known. The caller holds mu.
func (s *Store) publish(at int64, names []string) {
	s.log = append(s.log, change{at: at, names: names})
	s.trim(at)
	for c := range s.watchers {
		select {
		case c <- struct{}{}:
		default: // a token is waiting already
		}
	}
}

func invalid(msg string) error { return status.Error(codes.InvalidArgument, msg) }
