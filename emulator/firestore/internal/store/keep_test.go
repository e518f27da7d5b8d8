package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"truecost.dev/emulator/firestore/internal/value"
	"truecost.dev/emulator/journal"
)

func mustOpen(tb testing.TB, dir string, o Options) *Store {
	tb.Helper()
	s, err := Open(dir, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() }) // the test may have closed it
	return s
}

// killed returns a copy of a directory: what another process finds when the one
// that has it open is killed.
func killed(tb testing.TB, dir string) string {
	tb.Helper()
	after := filepath.Join(tb.TempDir(), "after")
	if err := os.CopyFS(after, os.DirFS(dir)); err != nil {
		tb.Fatal(err)
	}
	return after
}

func TestDocumentsComeBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := &manual{t: time.Unix(1000, 0)}
	s := mustOpen(t, dir, Options{Now: m.now})
	mustCommit(t, s, set("c/1", 1), set("c/gone", 1), set("c/1/s/2", 2))
	m.t = m.t.Add(time.Second)
	mustCommit(t, s, set("c/1", 7), remove1("c/gone"))
	last := s.Now()
	m.t = m.t.Add(-time.Hour) // the clock on the wall goes back over the restart
	s = mustOpen(t, killed(t, dir), Options{Now: m.now})
	now := s.Now()
	for _, name := range []string{"c/1", "c/gone", "c/1/s/2"} {
		if got, want := now.Get(root+"/"+name), last.Get(root+"/"+name); !proto.Equal(got, want) {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if got := now.CollectionIDs(root + "/c/1"); len(got) != 1 || got[0] != "s" {
		t.Errorf("CollectionIDs(c/1) = %q, want s", got)
	}
	if now.Time() < last.Time() {
		t.Errorf("time after the restart = %d, want at least %d, which has been handed out", now.Time(), last.Time())
	}
	if c := mustCommit(t, s, set("c/3", 1)); c.At <= last.Time() {
		t.Errorf("commit after the restart at %d, want later than %d", c.At, last.Time())
	}
	if _, err := s.At(last.Time() - time.Second.Microseconds()); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("At(before the restart) = %v, want FailedPrecondition: old versions are gone", err)
	}
	stale := proto.CloneOf(set("c/1", 9))
	stale.CurrentDocument = &pb.Precondition{ConditionType: &pb.Precondition_UpdateTime{UpdateTime: last.Get(root + "/c/1").GetUpdateTime()}}
	mustCommit(t, s, stale) // the version of before the restart is still the version
}

// TestTimesReadAreNeverHandedOutAgain is about times that no commit has: a lease
// is compared with them too.
func TestTimesReadAreNeverHandedOutAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := &manual{t: time.Unix(5000, 0)}
	s := mustOpen(t, dir, Options{Now: m.now})
	read := s.Now().Time()
	m.t = m.t.Add(-time.Minute)
	s = mustOpen(t, killed(t, dir), Options{Now: m.now})
	if got := s.Now().Time(); got < read || got > read+2*reserved {
		t.Errorf("time after the restart = %d, want %d or up to %d more", got, read, 2*reserved)
	}
	m.t = m.t.Add(time.Hour)
	if got := s.Now().Time(); got != m.t.UnixMicro() {
		t.Errorf("time = %d, want the clock on the wall again, %d", got, m.t.UnixMicro())
	}
}

func TestACommitThatCannotBeKeptIsNotSeen(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), Options{})
	mustCommit(t, s, set("c/1", 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Commit(context.Background(), root, []*pb.Write{set("c/1", 2)}, nil); status.Code(err) != codes.Internal {
			t.Errorf("Commit without a journal = %v, want Internal", err)
		}
	}
	if got := s.Now().Get(root + "/c/1").GetFields()["n"].GetIntegerValue(); got != 1 {
		t.Errorf("n = %d, want 1: the commit was refused", got)
	}
	if _, err := s.Wipe(root); status.Code(err) != codes.Internal {
		t.Errorf("Wipe without a journal = %v, want Internal", err)
	}
}

// TestDiskEqualsMemory does the same to a store on disk, which is killed and
// opened again at random points, and to one in memory.
func TestDiskEqualsMemory(t *testing.T) {
	t.Parallel()
	base, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		m := &manual{t: time.Unix(1000, 0)}
		n++
		dir := filepath.Join(base, strconv.Itoa(n))
		o := Options{Now: m.now, Journal: journal.Options{Compact: rapid.Int64Range(1, 3000).Draw(rt, "compact")}}
		memory := New(o)
		disk, err := Open(dir, o)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = disk.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) { sameDocuments(rt, memory, disk) },
			"commit": func(rt *rapid.T) {
				m.t = m.t.Add(time.Second)
				writes := rapid.SliceOfN(rapid.Custom(drawWrite), 1, 4).Draw(rt, "writes")
				a, aErr := memory.Commit(context.Background(), root, writes, nil)
				b, bErr := disk.Commit(context.Background(), root, writes, nil)
				if fmt.Sprint(aErr) != fmt.Sprint(bErr) || aErr == nil && a.At != b.At {
					rt.Fatalf("Commit on disk = %v, %v, want %v, %v as in memory", b, bErr, a, aErr)
				}
			},
			"wipe": func(rt *rapid.T) {
				m.t = m.t.Add(time.Second)
				a, _ := memory.Wipe(root)
				if b, err := disk.Wipe(root); a != b || err != nil {
					rt.Fatalf("Wipe on disk = %d, %v, want %d", b, err, a)
				}
			},
			"restart": func(*rapid.T) {
				if err := disk.Close(); err != nil {
					rt.Fatal(err)
				}
				if disk, err = Open(dir, o); err != nil {
					rt.Fatal(err)
				}
				m.t = m.t.Add(time.Second) // more than the times that were reserved
			},
		})
	})
}

func drawWrite(rt *rapid.T) *pb.Write {
	id := fmt.Sprintf("c/%d", rapid.IntRange(0, 4).Draw(rt, "id"))
	n := rapid.Int64Range(0, 3).Draw(rt, "n")
	switch rapid.IntRange(0, 5).Draw(rt, "kind") {
	case 0:
		return remove1(id)
	case 1:
		w := set(id, n)
		w.CurrentDocument = &pb.Precondition{ConditionType: &pb.Precondition_Exists{Exists: n%2 == 0}}
		return w
	case 2:
		w := set(id, n)
		w.GetUpdate().Fields["s"] = value.NewArray([]*pb.Value{value.NewInt(n), value.NewTimestamp(&timestamppb.Timestamp{Seconds: n})})
		return w
	case 3:
		w := set(id, n)
		w.UpdateMask = &pb.DocumentMask{FieldPaths: []string{"other"}}
		return w
	default:
		return set(id, n)
	}
}

func sameDocuments(rt *rapid.T, memory, disk *Store) {
	all := func(s *Store) map[string]*pb.Document {
		docs := map[string]*pb.Document{}
		s.Now().Scan(Scope{Parent: root, Descendants: true}, func(d *pb.Document) { docs[d.GetName()] = d })
		return docs
	}
	want, got := all(memory), all(disk)
	if len(got) != len(want) {
		rt.Fatalf("%d documents on disk, %d in memory", len(got), len(want))
	}
	for name, d := range want {
		if !proto.Equal(got[name], d) {
			rt.Fatalf("%s on disk = %v, want %v", name, got[name], d)
		}
	}
}

func TestOpenNamesTheDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := journal.Open(dir, journal.Options{Kind: "firestore"}, func([]byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append([]byte("no commit")); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(dir, Options{})
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "is damaged at byte") {
		t.Errorf("Open = %v, want the file and the byte", err)
	}
}

// FuzzRecord reads any bytes as a record: it never panics, and what it accepts
// comes back the same from what it writes.
func FuzzRecord(f *testing.F) {
	doc := func(id string) *pb.Document {
		return &pb.Document{Name: root + "/" + id, Fields: map[string]*pb.Value{"n": value.NewInt(1)}, CreateTime: value.Time(5), UpdateTime: value.Time(6)}
	}
	for _, r := range []record{{at: 1}, {at: 7, stored: []*pb.Document{doc("c/1"), doc("c/2")}, deleted: []string{root + "/c/3"}}} {
		b, err := r.marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		first, err := unmarshal(in)
		if err != nil {
			return
		}
		b, err := first.marshal()
		if err != nil {
			t.Fatalf("marshal of what was read: %v", err)
		}
		again, err := unmarshal(b)
		if err != nil || again.at != first.at || len(again.stored) != len(first.stored) || len(again.deleted) != len(first.deleted) {
			t.Fatalf("unmarshal(marshal(%v)) = %v, %v", first, again, err)
		}
		for i, d := range first.stored {
			if !proto.Equal(again.stored[i], d) {
				t.Errorf("document %d = %v, want %v", i, again.stored[i], d)
			}
		}
	})
}

func BenchmarkCommitOnDisk(b *testing.B) {
	s := mustOpen(b, b.TempDir(), Options{})
	n := int64(0)
	for b.Loop() {
		n++
		mustCommit(b, s, set(fmt.Sprintf("c/%d", n%1000), n))
	}
}
