package firestore_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"cloud.google.com/go/firestore"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/emulator/firestore/firestoretest"
)

// BenchmarkSet is one commit at a time through the official client.
func BenchmarkSet(b *testing.B) {
	c := firestoretest.Client(b)
	for n := 0; b.Loop(); n++ {
		if _, err := c.Doc(fmt.Sprintf("c/%d", n%100)).Set(b.Context(), map[string]any{"n": n}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSetOnDisk is BenchmarkSet on a server that outlives the process.
func BenchmarkSetOnDisk(b *testing.B) {
	c := onDisk(b)
	for n := 0; b.Loop(); n++ {
		if _, err := c.Doc(fmt.Sprintf("c/%d", n%100)).Set(b.Context(), map[string]any{"n": n}); err != nil {
			b.Fatal(err)
		}
	}
}

func onDisk(b *testing.B) *firestore.Client {
	b.Helper()
	server, err := fsemu.Open(b.TempDir(), fsemu.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Close() })
	return firestoretest.Connect(b, server)
}

// BenchmarkSetParallel is commits by many callers through the official client.
func BenchmarkSetParallel(b *testing.B) { setParallel(b, firestoretest.Client(b)) }

// BenchmarkSetParallelOnDisk is the same on a server that outlives the process.
func BenchmarkSetParallelOnDisk(b *testing.B) { setParallel(b, onDisk(b)) }

func setParallel(b *testing.B, c *firestore.Client) {
	b.Helper()
	var n atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			i := n.Add(1)
			if _, err := c.Doc(fmt.Sprintf("c/%d", i%1000)).Set(b.Context(), map[string]any{"n": i}); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkSnapshot is the time from a commit to its snapshot in a listener.
func BenchmarkSnapshot(b *testing.B) {
	c := firestoretest.Client(b)
	doc := c.Doc("c/1")
	it := doc.Snapshots(b.Context())
	defer it.Stop()
	if _, err := it.Next(); err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		if _, err := doc.Set(b.Context(), map[string]any{"n": n}); err != nil {
			b.Fatal(err)
		}
		if _, err := it.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkQuery reads 20 of 1,000 documents by a filter and an order.
func BenchmarkQuery(b *testing.B) {
	c := firestoretest.Client(b)
	for i := range 1000 {
		if _, err := c.Doc(fmt.Sprintf("c/%d", i)).Set(b.Context(), map[string]any{"n": i, "even": i%2 == 0}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		docs, err := c.Collection("c").Where("even", "==", true).Where("n", ">", 100).Limit(20).Documents(b.Context()).GetAll()
		if err != nil || len(docs) != 20 {
			b.Fatalf("query = %d documents, %v, want 20", len(docs), err)
		}
	}
}
