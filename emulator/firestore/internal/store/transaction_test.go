package store

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/internal/value"
)

func begin(t *testing.T, s *Store, o *pb.TransactionOptions) []byte {
	t.Helper()
	id, err := s.Begin(o)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// read reads c/1 in a transaction and returns its n.
func read(t *testing.T, s *Store, tx []byte) int64 {
	t.Helper()
	r, err := s.Reader(Selector{Transaction: tx})
	if err != nil {
		t.Fatal(err)
	}
	docs, err := r.Documents(t.Context(), []string{root + "/c/1"})
	if err != nil {
		t.Fatal(err)
	}
	return docs[0].GetFields()["n"].GetIntegerValue()
}

func wantCode(t *testing.T, what string, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Errorf("%s: code = %v (%v), want %v", what, got, err, want)
	}
}

// TestWriteWaitsForReader: a write to a document that an open transaction has
// read waits until that transaction ends.
func TestWriteWaitsForReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		mustCommit(t, s, set("c/1", 1), set("c/2", 1))
		tx := begin(t, s, nil)
		read(t, s, tx)
		mustCommit(t, s, set("c/2", 2)) // of no concern

		done := make(chan int64, 1)
		go func() {
			c, err := s.Commit(t.Context(), root, []*pb.Write{set("c/1", 9)}, nil)
			if err != nil {
				t.Error(err)
				c = &Committed{}
			}
			done <- c.At
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Error("the write did not wait for the transaction")
		default:
		}
		c, err := s.Commit(t.Context(), root, []*pb.Write{set("c/1", 2)}, tx)
		wantCode(t, "Commit of the transaction", err, codes.OK)
		if at := <-done; at <= c.At {
			t.Errorf("the write is at %d, want later than the transaction at %d", at, c.At)
		}
	})
}

func TestLockTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{LockTimeout: 3 * time.Second})
		tx := begin(t, s, nil)
		read(t, s, tx)
		from := time.Now()
		_, err := s.Commit(t.Context(), root, []*pb.Write{set("c/1", 1)}, nil)
		wantCode(t, "Commit beside an open transaction", err, codes.Aborted)
		if got := time.Since(from); got != 3*time.Second {
			t.Errorf("Commit waited %v, want 3s", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.Commit(ctx, root, []*pb.Write{set("c/1", 1)}, nil)
		wantCode(t, "Commit with a deadline", err, codes.DeadlineExceeded)
		if len(s.locks.queue) > 0 {
			t.Errorf("%d waiters are left, want none", len(s.locks.queue))
		}
	})
}

// TestDeadlock: of two transactions that both read and want to write one
// document, the second to commit is aborted at once, and the first succeeds.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		mustCommit(t, s, set("c/1", 1))
		a, b := begin(t, s, nil), begin(t, s, nil)
		read(t, s, a)
		read(t, s, b)
		first := make(chan error, 1)
		go func() {
			_, err := s.Commit(t.Context(), root, []*pb.Write{set("c/1", 2)}, a)
			first <- err
		}()
		synctest.Wait()
		from := time.Now()
		_, err := s.Commit(t.Context(), root, []*pb.Write{set("c/1", 3)}, b)
		wantCode(t, "Commit of the second", err, codes.Aborted)
		if waited := time.Since(from); waited != 0 {
			t.Errorf("the second waited %v, want to be aborted at once", waited)
		}
		wantCode(t, "Commit of the first", <-first, codes.OK)
		wantCode(t, "Rollback of the second", s.Rollback(b), codes.InvalidArgument)
	})
}

// TestReaderQueuesBehindWriter: while a write waits, new transactions cannot
// read past it and starve it; they see what it wrote.
func TestReaderQueuesBehindWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		mustCommit(t, s, set("c/1", 1))
		a, b := begin(t, s, nil), begin(t, s, nil)
		read(t, s, a)
		wrote := make(chan error, 1)
		go func() {
			_, err := s.Commit(t.Context(), root, []*pb.Write{set("c/1", 2)}, nil)
			wrote <- err
		}()
		synctest.Wait()
		got := make(chan int64, 1)
		go func() {
			r, err := s.Reader(Selector{Transaction: b})
			if err != nil {
				t.Error(err)
			}
			docs, err := r.Documents(t.Context(), []string{root + "/c/1"})
			if err != nil {
				t.Error(err)
			}
			got <- docs[0].GetFields()["n"].GetIntegerValue()
		}()
		synctest.Wait()
		if len(got) > 0 {
			t.Error("the second reader overtook the waiting write")
		}
		wantCode(t, "Rollback", s.Rollback(a), codes.OK)
		wantCode(t, "Commit of the waiting write", <-wrote, codes.OK)
		if n := <-got; n != 2 {
			t.Errorf("the second reader saw %d, want 2", n)
		}
		wantCode(t, "Rollback", s.Rollback(b), codes.OK)
		if len(s.locks.open)+len(s.locks.holders)+len(s.locks.queue) > 0 {
			t.Errorf("locks are left: %+v", s.locks)
		}
	})
}

func TestForgottenTransactionExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{LockTimeout: time.Hour})
		tx := begin(t, s, nil)
		read(t, s, tx)
		time.Sleep(time.Minute + time.Second)
		begin(t, s, nil) // looks for the forgotten
		mustCommit(t, s, set("c/1", 1))
		_, err := s.Commit(t.Context(), root, nil, tx)
		wantCode(t, "Commit of an expired transaction", err, codes.InvalidArgument)
	})
}

func TestOptimistic(t *testing.T) {
	t.Parallel()
	s := New(Options{Optimistic: true})
	mustCommit(t, s, set("c/1", 1))
	tx := begin(t, s, nil)
	read(t, s, tx)
	mustCommit(t, s, set("c/1", 2)) // does not wait
	if got := read(t, s, tx); got != 1 {
		t.Errorf("the transaction reads %d, want 1: its snapshot is fixed", got)
	}
	_, err := s.Commit(t.Context(), root, []*pb.Write{set("c/2", 1)}, tx)
	wantCode(t, "Commit after a change", err, codes.Aborted)
}

// TestQueryInTransaction: a document that appears in the result of a query that
// a transaction made aborts it.
func TestQueryInTransaction(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	mustCommit(t, s, set("c/1", 1))
	all := func(now Snapshot) []*pb.Document {
		var docs []*pb.Document
		now.Scan(Scope{Parent: root, Collection: "c"}, func(d *pb.Document) { docs = append(docs, d) })
		return docs
	}
	for _, test := range []struct {
		write *pb.Write
		want  codes.Code
	}{{set("other/1", 1), codes.OK}, {set("c/2", 1), codes.Aborted}} {
		tx := begin(t, s, nil)
		r, err := s.Reader(Selector{Transaction: tx})
		wantCode(t, "Reader", err, codes.OK)
		_, err = r.Query(t.Context(), all)
		wantCode(t, "Query", err, codes.OK)
		mustCommit(t, s, test.write)
		_, err = s.Commit(t.Context(), root, []*pb.Write{set("sum/1", 1)}, tx)
		wantCode(t, "Commit after "+DocumentOf(test.write), err, test.want)
	}
}

func TestReadOnlyTransaction(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	first := mustCommit(t, s, set("c/1", 1))
	mustCommit(t, s, set("c/1", 2))
	readOnly := func(at int64) *pb.TransactionOptions {
		ro := &pb.TransactionOptions_ReadOnly{}
		if at != 0 {
			ro.ConsistencySelector = &pb.TransactionOptions_ReadOnly_ReadTime{ReadTime: value.Time(at)}
		}
		return &pb.TransactionOptions{Mode: &pb.TransactionOptions_ReadOnly_{ReadOnly: ro}}
	}
	tx, past := begin(t, s, readOnly(0)), begin(t, s, readOnly(first.At))
	mustCommit(t, s, set("c/1", 3)) // takes no lock into account
	if got := read(t, s, tx); got != 2 {
		t.Errorf("read-only transaction reads %d, want 2", got)
	}
	if got := read(t, s, past); got != 1 {
		t.Errorf("read-only transaction at a time reads %d, want 1", got)
	}
	_, err := s.Commit(t.Context(), root, []*pb.Write{set("c/1", 4)}, tx)
	wantCode(t, "Commit of writes in it", err, codes.InvalidArgument)
	_, err = s.Commit(t.Context(), root, nil, past)
	wantCode(t, "Commit without writes", err, codes.OK)
}
