package firestore

import (
	"encoding/binary"
	"maps"
	"slices"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"

	"truecost.dev/emulator/firestore/internal/query"
	"truecost.dev/emulator/firestore/internal/resource"
	"truecost.dev/emulator/firestore/internal/store"
	"truecost.dev/emulator/firestore/internal/value"
)

// target is one thing that a Listen stream watches: named documents or the
// result of a query.
type target struct {
	id    int32
	once  bool
	names []string     // for documents, sorted
	query *query.Query // for a query

	held    map[string]*pb.Document // what the client has; a document is one version
	at      int64                   // as of when; 0: the client has nothing yet
	current bool                    // the client has been brought up to date at least once
}

func newTarget(database string, raw *pb.Target) (*target, error) {
	t := &target{id: raw.GetTargetId(), once: raw.GetOnce(), held: map[string]*pb.Document{}}
	switch x := raw.GetTargetType().(type) {
	case *pb.Target_Documents:
		t.names = slices.Clone(x.Documents.GetDocuments())
		slices.Sort(t.names)
		t.names = slices.Compact(t.names)
		for _, name := range t.names {
			if err := resource.CheckDocument(name); err != nil {
				return nil, err
			}
		}
		return t, inDatabase(database, t.names...)
	case *pb.Target_Query:
		var err error
		t.query, err = query.Compile(x.Query.GetParent(), x.Query.GetStructuredQuery())
		if err != nil {
			return nil, err
		}
		return t, inDatabase(database, x.Query.GetParent()+"/")
	default:
		return nil, invalid("A target needs documents or a query.")
	}
}

// evaluate returns the documents of the target in order.
func (t *target) evaluate(snap store.Snapshot) []*pb.Document {
	if t.query != nil {
		return t.query.Run(snap)
	}
	var docs []*pb.Document
	for _, name := range t.names {
		if d := snap.Get(name); d != nil {
			docs = append(docs, d)
		}
	}
	return docs
}

// adopt takes the state at snap as what the client has.
func (t *target) adopt(snap store.Snapshot) {
	t.at = snap.Time()
	for _, d := range t.evaluate(snap) {
		t.held[d.GetName()] = d
	}
}

// advance returns the messages that take the client from what it has to snap.
func (t *target) advance(snap store.Snapshot) []*pb.ListenResponse {
	u := update{target: t, snap: snap}
	var changed []string
	known := false
	if t.at != 0 {
		changed, known = snap.Changed(t.at)
	}
	switch {
	case !known:
		u.replace(t.evaluate(snap))
		if t.at == 0 {
			u.reportMissing()
		}
	case t.query != nil && t.query.Windowed():
		if slices.ContainsFunc(changed, t.query.Covers) {
			u.replace(t.evaluate(snap))
		}
	default:
		for _, name := range changed {
			if d, in := t.member(name, snap); in {
				u.put(d)
			} else {
				u.drop(name)
			}
		}
	}
	t.at, t.current = snap.Time(), true
	return u.msgs
}

// member tells whether the named document belongs to the target, which must not
// be a windowed query.
func (t *target) member(name string, snap store.Snapshot) (*pb.Document, bool) {
	if t.query == nil {
		if _, ok := slices.BinarySearch(t.names, name); !ok {
			return nil, false
		}
	} else if !t.query.Covers(name) {
		return nil, false
	}
	d := snap.Get(name)
	return d, d != nil && (t.query == nil || t.query.Includes(d))
}

// update collects messages while it changes what a target holds.
type update struct {
	*target
	snap store.Snapshot
	msgs []*pb.ListenResponse
}

// put sends a document unless the client has this version.
func (u *update) put(d *pb.Document) {
	if u.held[d.GetName()] == d {
		return
	}
	u.held[d.GetName()] = d
	shown := d
	if u.query != nil {
		shown = u.query.Project(d)
	}
	u.msgs = append(u.msgs, &pb.ListenResponse{ResponseType: &pb.ListenResponse_DocumentChange{
		DocumentChange: &pb.DocumentChange{Document: shown, TargetIds: []int32{u.id}},
	}})
}

// drop takes a document from the client: deleted when it is gone, removed when
// it left the result. Without it on the client's side there is nothing to do.
func (u *update) drop(name string) {
	if u.held[name] == nil {
		return
	}
	delete(u.held, name)
	if u.snap.Get(name) == nil {
		u.deleted(name)
		return
	}
	u.msgs = append(u.msgs, &pb.ListenResponse{ResponseType: &pb.ListenResponse_DocumentRemove{
		DocumentRemove: &pb.DocumentRemove{Document: name, RemovedTargetIds: []int32{u.id}, ReadTime: value.Time(u.snap.Time())},
	}})
}

func (u *update) deleted(name string) {
	u.msgs = append(u.msgs, &pb.ListenResponse{ResponseType: &pb.ListenResponse_DocumentDelete{
		DocumentDelete: &pb.DocumentDelete{Document: name, RemovedTargetIds: []int32{u.id}, ReadTime: value.Time(u.snap.Time())},
	}})
}

// replace makes docs the whole of what the client has.
func (u *update) replace(docs []*pb.Document) {
	keep := make(map[string]bool, len(docs))
	for _, d := range docs {
		keep[d.GetName()] = true
		u.put(d)
	}
	for _, name := range slices.SortedFunc(maps.Keys(u.held), resource.Compare) {
		if !keep[name] {
			u.drop(name)
		}
	}
}

// reportMissing says of every watched document that does not exist that it does
// not, so that the client need not wait for it.
func (u *update) reportMissing() {
	for _, name := range u.names {
		if u.held[name] == nil {
			u.deleted(name)
		}
	}
}

// token is the resume token of a read time: good on this server only.
func (s *Server) token(at int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, s.epoch), uint64(at))
}

// readToken returns the read time of a token, or a time too old to be read when
// another server made it.
func (s *Server) readToken(token []byte) int64 {
	if len(token) != 16 || binary.BigEndian.Uint64(token) != s.epoch {
		return -1
	}
	return int64(binary.BigEndian.Uint64(token[8:]))
}
