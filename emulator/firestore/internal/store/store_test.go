package store

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/internal/value"
)

const root = "projects/p/databases/d/documents"

func set(id string, n int64) *pb.Write {
	return &pb.Write{Operation: &pb.Write_Update{Update: &pb.Document{
		Name: root + "/" + id, Fields: map[string]*pb.Value{"n": value.NewInt(n)},
	}}}
}

func remove1(id string) *pb.Write {
	return &pb.Write{Operation: &pb.Write_Delete{Delete: root + "/" + id}}
}

func mustCommit(tb testing.TB, s *Store, writes ...*pb.Write) *Committed {
	tb.Helper()
	c, err := s.Commit(context.Background(), root, writes, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// manual is a clock that a test moves.
type manual struct{ t time.Time }

func (m *manual) now() time.Time { return m.t }

func TestCommitTimesIncrease(t *testing.T) {
	t.Parallel()
	m := &manual{t: time.Unix(1000, 0)}
	s := New(Options{Now: m.now})
	last := s.Now().Time()
	for i := range 5 {
		if i == 3 {
			m.t = m.t.Add(-time.Hour) // the clock on the wall goes back
		}
		c := mustCommit(t, s, set("c/1", int64(i)))
		if c.At <= last {
			t.Errorf("commit %d at %d, want later than %d, which has been handed out", i, c.At, last)
		}
		last = s.Now().Time()
		if last < c.At {
			t.Errorf("Now() = %d, want at least the commit time %d", last, c.At)
		}
	}
}

func TestSnapshotsStay(t *testing.T) {
	t.Parallel()
	m := &manual{t: time.Unix(10_000, 0)}
	s := New(Options{Now: m.now})
	empty := s.Now()
	first := mustCommit(t, s, set("c/1", 1))
	mustCommit(t, s, set("c/1", 2))
	deleted := mustCommit(t, s, remove1("c/1"))
	get := func(at int64) (int64, error) {
		n, err := s.At(at)
		if err != nil {
			return 0, err
		}
		d := n.Get(root + "/c/1")
		return d.GetFields()["n"].GetIntegerValue(), nil
	}
	if empty.Get(root+"/c/1") != nil {
		t.Error("a snapshot from before the first commit shows the document")
	}
	for _, test := range []struct {
		at   int64
		want int64
	}{{first.At - 1, 0}, {first.At, 1}, {deleted.At - 1, 2}, {deleted.At, 0}} {
		if got, err := get(test.at); err != nil || got != test.want {
			t.Errorf("n at %d = %d, %v, want %d", test.at, got, err, test.want)
		}
	}
	if _, err := get(deleted.At + time.Hour.Microseconds()); status.Code(err) != codes.InvalidArgument {
		t.Errorf("At(the future) = %v, want InvalidArgument", err)
	}
	m.t = m.t.Add(2 * Retention)
	mustCommit(t, s, set("c/2", 1))
	if _, err := get(first.At); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("At(long ago) = %v, want FailedPrecondition", err)
	}
	if _, known := s.Now().Changed(first.At); known {
		t.Error("Changed(since long ago) is known, want unknown")
	}
	if len(s.documents) != 1 || len(s.log) != 1 {
		t.Errorf("after the retention the store keeps %d documents and %d commits, want 1 and 1", len(s.documents), len(s.log))
	}
}

func TestIdleWritesWakeNobody(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	first := mustCommit(t, s, set("c/1", 1))
	wake, stop := s.Watch()
	defer stop()
	again := mustCommit(t, s, set("c/1", 1))
	there := mustCommit(t, s, set("c/1", 2), set("c/1", 1))
	mustCommit(t, s, remove1("c/9"))
	for i, c := range []*Committed{again, there} {
		if got := value.Micros(c.Results[0].GetUpdateTime()); got != first.At || c.At <= first.At {
			t.Errorf("idle write %d: update time %d at commit %d, want %d and a later commit", i, got, c.At, first.At)
		}
	}
	select {
	case <-wake:
		t.Error("a write that changed nothing woke a watcher")
	default:
	}
	mustCommit(t, s, set("c/1", 3))
	mustCommit(t, s, set("c/1", 4))
	select {
	case <-wake:
	default:
		t.Error("a write woke nobody")
	}
	if got, _ := s.Now().Changed(first.At); !slices.Equal(got, []string{root + "/c/1"}) {
		t.Errorf("Changed() = %q, want the one document once", got)
	}
}

func TestSequencesInOneCommit(t *testing.T) {
	t.Parallel()
	exists := func(w *pb.Write, e bool) *pb.Write {
		w.CurrentDocument = &pb.Precondition{ConditionType: &pb.Precondition_Exists{Exists: e}}
		return w
	}
	tests := []struct {
		name   string
		writes []*pb.Write
		want   codes.Code
		msg    string
	}{
		{"set, update", []*pb.Write{set("c/1", 1), exists(set("c/1", 2), true)}, codes.OK, ""},
		{"insert, delete", []*pb.Write{exists(set("c/1", 1), false), exists(remove1("c/1"), true)}, codes.OK, ""},
		{"delete, insert", []*pb.Write{remove1("c/1"), exists(set("c/1", 1), false)}, codes.OK, ""},
		{
			"delete, update",
			[]*pb.Write{remove1("c/1"), exists(set("c/1", 1), true)},
			codes.InvalidArgument,
			"Cannot delete then update an entity in the same request.",
		},
		{
			"set, insert",
			[]*pb.Write{set("c/1", 1), exists(set("c/1", 1), false)},
			codes.InvalidArgument,
			"Cannot upsert then insert an entity in the same request.",
		},
		{
			"update of a missing one, insert",
			[]*pb.Write{exists(set("c/1", 1), true), exists(set("c/1", 1), false)},
			codes.InvalidArgument,
			"Cannot update then insert an entity in the same request.",
		},
	}
	for _, test := range tests {
		_, err := New(Options{}).Commit(t.Context(), root, test.writes, nil)
		if status.Code(err) != test.want || status.Convert(err).Message() != test.msg {
			t.Errorf("Commit(%s) = %v, want %v %q", test.name, err, test.want, test.msg)
		}
	}
}

func TestCollections(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	mustCommit(t, s, set("b/1", 1), set("a/1/s/1", 1), set("a/2/s/1", 1), set("a/2", 1), set("z/1", 1))
	mustCommit(t, s, remove1("z/1"))
	now := s.Now()
	if got, want := now.CollectionIDs(root), []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("CollectionIDs(root) = %q, want %q", got, want)
	}
	if got, want := now.CollectionIDs(root+"/a/1"), []string{"s"}; !slices.Equal(got, want) {
		t.Errorf("CollectionIDs(a/1) = %q, want %q", got, want)
	}
	if got, want := now.Missing(root+"/a"), []string{root + "/a/1"}; !slices.Equal(got, want) {
		t.Errorf("Missing(a) = %q, want %q", got, want)
	}
	if got, err := s.Wipe(root); got != 4 || err != nil {
		t.Errorf("Wipe() = %d, %v, want 4", got, err)
	}
	if got := s.Now().CollectionIDs(root); len(got) > 0 {
		t.Errorf("CollectionIDs() after Wipe = %q, want none", got)
	}
}

func BenchmarkCommit(b *testing.B) {
	s := New(Options{})
	n := int64(0)
	for b.Loop() {
		n++
		mustCommit(b, s, set(fmt.Sprintf("c/%d", n%1000), n))
	}
}
