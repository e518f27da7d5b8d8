package firestore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/iterator"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/firestoretest"
)

func wantCode(t *testing.T, what string, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Errorf("%s: code = %v (%v), want %v", what, got, err, want)
	}
}

func TestDocumentLifeCycle(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), firestoretest.Client(t)
	doc := c.Doc("estimates/e1")

	_, err := doc.Get(ctx)
	wantCode(t, "Get of a missing document", err, codes.NotFound)
	_, err = doc.Create(ctx, map[string]any{"status": "processing", "n": 1})
	wantCode(t, "Create", err, codes.OK)
	_, err = doc.Create(ctx, map[string]any{})
	wantCode(t, "Create of an existing document", err, codes.AlreadyExists)
	_, err = doc.Update(ctx, []firestore.Update{{Path: "pipeline.scores.location", Value: 91}, {Path: "n", Value: firestore.Increment(2)}})
	wantCode(t, "Update", err, codes.OK)
	snap, err := doc.Get(ctx)
	wantCode(t, "Get", err, codes.OK)
	if got, _ := snap.DataAt("pipeline.scores.location"); got != int64(91) {
		t.Errorf("pipeline.scores.location = %v, want 91", got)
	}
	if got, _ := snap.DataAt("n"); got != int64(3) {
		t.Errorf("n = %v, want 3", got)
	}
	_, err = doc.Update(ctx, []firestore.Update{{Path: "n", Value: 9}}, firestore.LastUpdateTime(snap.CreateTime))
	wantCode(t, "Update on a stale version", err, codes.FailedPrecondition)
	_, err = doc.Update(ctx, []firestore.Update{{Path: "n", Value: 9}}, firestore.LastUpdateTime(snap.UpdateTime))
	wantCode(t, "Update on the current version", err, codes.OK)
	_, err = doc.Delete(ctx, firestore.Exists)
	wantCode(t, "Delete", err, codes.OK)
	_, err = doc.Delete(ctx, firestore.Exists)
	wantCode(t, "Delete of a missing document that must exist", err, codes.NotFound)
	_, err = doc.Delete(ctx)
	wantCode(t, "Delete of a missing document", err, codes.OK)
	_, err = doc.Update(ctx, []firestore.Update{{Path: "n", Value: 9}})
	wantCode(t, "Update of a missing document", err, codes.NotFound)
}

func TestQuerySnapshots(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c := firestoretest.Client(t)
	col := c.Collection("estimates")
	it := col.Where("open", "==", true).OrderBy("n", firestore.Asc).Snapshots(ctx)
	defer it.Stop()
	next := func(want ...string) {
		t.Helper()
		snap, err := it.Next()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			d, err := snap.Documents.Next()
			if errors.Is(err, iterator.Done) {
				break
			}
			got = append(got, d.Ref.ID)
		}
		if len(got) != len(want) {
			t.Fatalf("snapshot = %v, want %v", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("snapshot = %v, want %v", got, want)
			}
		}
	}
	set := func(id string, open bool, n int) {
		t.Helper()
		if _, err := col.Doc(id).Set(ctx, map[string]any{"open": open, "n": n}); err != nil {
			t.Fatal(err)
		}
	}
	next()
	set("a", true, 2)
	next("a")
	set("b", true, 1)
	next("b", "a")
	set("other", false, 1)
	set("a", false, 2)
	next("b")
	if _, err := col.Doc("b").Delete(ctx); err != nil {
		t.Fatal(err)
	}
	next()
}
