package firestore_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/emulator/firestore/firestoretest"
)

// increment adds one to a counter in a transaction.
func increment(ctx context.Context, c *firestore.Client, doc *firestore.DocumentRef) error {
	return c.RunTransaction(ctx, func(_ context.Context, tx *firestore.Transaction) error {
		snap, err := tx.Get(doc)
		if err != nil {
			return err
		}
		n, err := snap.DataAt("n")
		if err != nil {
			return err
		}
		return tx.Set(doc, map[string]any{"n": n.(int64) + 1})
	}, firestore.MaxAttempts(20))
}

func TestTransactionsOnOneCounter(t *testing.T) {
	t.Parallel()
	for name, optimistic := range map[string]bool{"pessimistic": false, "optimistic": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
			defer cancel()
			_, c := firestoretest.With(t, fsemu.Options{Optimistic: optimistic})
			doc := c.Doc("counters/one")
			if _, err := doc.Create(ctx, map[string]any{"n": 0}); err != nil {
				t.Fatal(err)
			}
			const clients = 5
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() {
					if err := increment(ctx, c, doc); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			snap, err := doc.Get(ctx)
			wantCode(t, "Get", err, codes.OK)
			if got, _ := snap.DataAt("n"); got != int64(clients) {
				t.Errorf("counter = %v, want %d", got, clients)
			}
		})
	}
}
