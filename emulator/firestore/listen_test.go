package firestore_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	fsemu "truecost.dev/emulator/firestore"
)

// raw returns a server and a generated client on it.
func raw(t *testing.T) (*fsemu.Server, pb.FirestoreClient) {
	t.Helper()
	server := fsemu.New(fsemu.Options{})
	t.Cleanup(func() { _ = server.Close() })
	conn, err := server.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return server, pb.NewFirestoreClient(conn)
}

// watcher plays the part of a client: it keeps what it is told, per target.
type watcher struct {
	t       *testing.T
	stream  pb.Firestore_ListenClient
	targets map[int32]*watched
	token   []byte
}

type watched struct {
	query    *pb.Target_QueryTarget
	docs     map[string]string
	received int // documents, to see that a resumed target gets a difference only
	reset    bool
}

func newWatcher(ctx context.Context, t *testing.T, api pb.FirestoreClient) *watcher {
	t.Helper()
	stream, err := api.Listen(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return &watcher{t: t, stream: stream, targets: map[int32]*watched{}}
}

func (w *watcher) add(database string, id int32, q *pb.Target_QueryTarget, have *watched, token []byte) {
	w.t.Helper()
	target := &pb.Target{TargetId: id, TargetType: &pb.Target_Query{Query: q}}
	w.targets[id] = &watched{query: q, docs: map[string]string{}}
	if have != nil {
		w.targets[id].docs = maps.Clone(have.docs)
		target.ResumeType = &pb.Target_ResumeToken{ResumeToken: token}
	}
	if err := w.stream.Send(&pb.ListenRequest{Database: database, TargetChange: &pb.ListenRequest_AddTarget{AddTarget: target}}); err != nil {
		w.t.Fatal(err)
	}
}

// snapshot receives until the server says that all targets show one time.
func (w *watcher) snapshot() *timestamppb.Timestamp {
	w.t.Helper()
	for {
		m, err := w.stream.Recv()
		if err != nil {
			w.t.Fatal(err)
		}
		switch x := m.GetResponseType().(type) {
		case *pb.ListenResponse_DocumentChange:
			for _, id := range x.DocumentChange.GetTargetIds() {
				w.targets[id].docs[x.DocumentChange.GetDocument().GetName()] = text(x.DocumentChange.GetDocument())
				w.targets[id].received++
			}
		case *pb.ListenResponse_DocumentDelete:
			for _, id := range x.DocumentDelete.GetRemovedTargetIds() {
				delete(w.targets[id].docs, x.DocumentDelete.GetDocument())
			}
		case *pb.ListenResponse_DocumentRemove:
			for _, id := range x.DocumentRemove.GetRemovedTargetIds() {
				delete(w.targets[id].docs, x.DocumentRemove.GetDocument())
			}
		case *pb.ListenResponse_TargetChange:
			c := x.TargetChange
			if c.GetTargetChangeType() == pb.TargetChange_RESET {
				w.targets[c.GetTargetIds()[0]].docs = map[string]string{}
				w.targets[c.GetTargetIds()[0]].reset = true
			}
			if c.GetTargetChangeType() == pb.TargetChange_NO_CHANGE && len(c.GetTargetIds()) == 0 {
				w.token = c.GetResumeToken()
				return c.GetReadTime()
			}
		}
	}
}

// check compares every target with the result of its query at the same time.
func (w *watcher) check(ctx context.Context, api pb.FirestoreClient, at *timestamppb.Timestamp) {
	w.t.Helper()
	for id, have := range w.targets {
		stream, err := api.RunQuery(ctx, &pb.RunQueryRequest{
			Parent:              have.query.GetParent(),
			QueryType:           &pb.RunQueryRequest_StructuredQuery{StructuredQuery: have.query.GetStructuredQuery()},
			ConsistencySelector: &pb.RunQueryRequest_ReadTime{ReadTime: at},
		})
		if err != nil {
			w.t.Fatal(err)
		}
		want := map[string]string{}
		for m, err := stream.Recv(); err == nil; m, err = stream.Recv() {
			if m.GetDocument() != nil {
				want[m.GetDocument().GetName()] = text(m.GetDocument())
			}
		}
		if diff := cmp.Diff(want, have.docs); diff != "" {
			w.t.Fatalf("target %d at %v differs from its query (-query +listener):\n%s", id, at.AsTime(), diff)
		}
	}
}

// tick is a collection with one document that is counted up, by which a watcher
// sees that it has been told of everything before.
const tick = int32(1)

// catchUp counts the tick up and receives snapshots, checking each, until one
// shows it.
func (w *watcher) catchUp(ctx context.Context, api pb.FirestoreClient, g *generator, n int64) {
	w.t.Helper()
	name := g.root() + "/ticks/tick"
	_, err := api.Commit(ctx, &pb.CommitRequest{Database: g.database, Writes: []*pb.Write{{
		Operation: &pb.Write_Update{Update: &pb.Document{Name: name, Fields: map[string]*pb.Value{"n": intValue(n)}}},
	}}})
	if err != nil {
		w.t.Fatal(err)
	}
	shown := fmt.Sprintf(`{"n":{"integerValue":"%d"}}`, n)
	for !strings.Contains(w.targets[tick].docs[name], shown) {
		w.check(ctx, api, w.snapshot())
	}
}

// TestListenersShowTheirQueries commits at random while targets are watched;
// every snapshot must be the result of the queries at its read time, also after
// the targets were resumed on another stream.
func TestListenersShowTheirQueries(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, api := raw(t)
	g := &generator{Rand: rand.New(rand.NewPCG(3, 5)), database: "projects/truecost/databases/(default)"}
	queries := randomQueries(ctx, api, g, 12)
	w := newWatcher(ctx, t, api)
	for id := tick; id <= int32(len(queries)); id++ {
		w.add(g.database, id, queries[id], nil, nil)
		w.check(ctx, api, w.snapshot())
	}
	resumed := 0
	for n := range int64(150) {
		for range g.IntN(4) { // also such that fail
			_, _ = api.Commit(ctx, &pb.CommitRequest{Database: g.database, Writes: g.writes()})
		}
		if n%10 == 9 {
			old := w
			w = newWatcher(ctx, t, api)
			for id := tick; id <= int32(len(queries)); id++ {
				w.add(g.database, id, queries[id], old.targets[id], old.token)
				w.check(ctx, api, w.snapshot())
				if w.targets[id].reset {
					t.Fatalf("target %d was reset, want a difference", id)
				}
				resumed += len(w.targets[id].docs) - w.targets[id].received
			}
		}
		w.catchUp(ctx, api, g, n)
	}
	if resumed <= 0 {
		t.Error("resumed targets received every document again, want the changed ones only")
	}
}

// TestUnknownTokenResets: a token of another server makes the client start anew.
func TestUnknownTokenResets(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, other := raw(t)
	_, api := raw(t)
	g := &generator{Rand: rand.New(rand.NewPCG(1, 1)), database: defaultDatabase}
	queries := randomQueries(ctx, api, g, tick)
	before := newWatcher(ctx, t, other)
	before.add(defaultDatabase, tick, queries[tick], nil, nil)
	before.check(ctx, other, before.snapshot())
	before.catchUp(ctx, other, g, 1)

	after := newWatcher(ctx, t, api)
	after.add(defaultDatabase, tick, queries[tick], before.targets[tick], before.token)
	after.check(ctx, api, after.snapshot())
	if !after.targets[tick].reset {
		t.Error("the target was not reset, want it to be: the token is of another server")
	}
}

// randomQueries returns valid queries by target id; the first watches the tick.
func randomQueries(ctx context.Context, api pb.FirestoreClient, g *generator, n int32) map[int32]*pb.Target_QueryTarget {
	queries := map[int32]*pb.Target_QueryTarget{}
	for id := tick; id <= n; id++ {
		q := &pb.StructuredQuery{From: []*pb.StructuredQuery_CollectionSelector{{CollectionId: "ticks"}}}
		for id != tick {
			if q = g.query(); valid(ctx, api, g.root(), q) {
				break
			}
		}
		queries[id] = &pb.Target_QueryTarget{Parent: g.root(), QueryType: &pb.Target_QueryTarget_StructuredQuery{StructuredQuery: q}}
	}
	return queries
}

func valid(ctx context.Context, api pb.FirestoreClient, parent string, q *pb.StructuredQuery) bool {
	stream, err := api.RunQuery(ctx, &pb.RunQueryRequest{Parent: parent, QueryType: &pb.RunQueryRequest_StructuredQuery{StructuredQuery: q}})
	if err == nil {
		_, err = stream.Recv()
	}
	return err == nil
}
