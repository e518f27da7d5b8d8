package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"truecost.dev/emulator/firestore"
	"truecost.dev/emulator/pubsub"
)

// counts is what the embedded servers have done.
type counts struct {
	Writes    int `json:"writes"`
	Reads     int `json:"reads"`
	Commits   int `json:"commits"`   // asked for, refused ones as well
	Publishes int `json:"publishes"` // requests
}

func (c counts) minus(d counts) counts {
	return counts{c.Writes - d.Writes, c.Reads - d.Reads, c.Commits - d.Commits, c.Publishes - d.Publishes}
}

// serveStores is a process with the embedded Firestore and Pub/Sub, apart from
// everything else, so that what they use can be told from what the engine uses.
func serveStores(ctx context.Context) error {
	documents, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	messages, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var publishes atomic.Int64
	store := firestore.New(firestore.Options{})
	broker := pubsub.New(pubsub.Options{Fail: func(method string) error {
		if strings.HasSuffix(method, "/Publish") {
			publishes.Add(1)
		}
		return nil
	}})
	defer store.Close()
	defer broker.Close()
	go func() { _ = store.Serve(documents) }() // both end with Close
	go func() { _ = broker.Serve(messages) }()
	pages := http.NewServeMux()
	pages.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) {
		n := store.Counts()
		_ = json.NewEncoder(w).Encode(counts{n.Writes, n.Reads, n.ByMethod["Commit"].Calls, int(publishes.Load())})
	})
	return announce(ctx, ready{Firestore: documents.Addr().String(), PubSub: messages.Addr().String()}, pages)
}
