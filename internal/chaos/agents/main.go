// Command agents serves the agents of the estimate flow from one process that
// may be killed at any moment. What each does with a call, package script says;
// what was paid for stands in the ledger before the caller hears of it. The
// front and the task store are the real ones.
//
//	agents -listen 127.0.0.1:7000 -ledger FILE -lease 5s
//
// FIRESTORE_EMULATOR_HOST names the store.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"truecost.dev/internal/chaos/ledger"
	"truecost.dev/shared/gcp/docstore"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	listen := flag.String("listen", "127.0.0.1:7000", "`address`")
	book := flag.String("ledger", "", "`file` that the ledger is appended to")
	lease := flag.Duration("lease", 5*time.Second, "of a task whose worker is silent")
	flag.Parse()
	store, err := connect(ctx, os.Getenv("FIRESTORE_EMULATOR_HOST"))
	if err != nil {
		return err
	}
	l, err := ledger.Open(*book)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server := &http.Server{Addr: *listen, Handler: newStage(l, docstore.NewTasks(store), *lease, log).handler(), ReadHeaderTimeout: 10 * time.Second}
	return errors.Join(server.ListenAndServe(), l.Close(), store.Close())
}

// connect returns a client of the store at an address.
func connect(ctx context.Context, address string) (*firestore.Client, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	return firestore.NewClient(ctx, "truecost", option.WithGRPCConn(conn))
}
