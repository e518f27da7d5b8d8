// Command walker serves an agent that walks from a process that may be killed at
// any moment: its desk, front and queue are those of the module, as are the
// functions agent_work and agent_sweep beside it. What it does with a message,
// the message says; each run it begins stands in the ledger before anything else.
//
//	walker -listen 127.0.0.1:7000 -ledger FILE
//
// The environment configures it as it does the functions.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"truecost.dev/internal/chaos/ledger"
	"truecost.dev/internal/chaos/tasks/walk"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/boot"
	"truecost.dev/triggers"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "walker:", err)
		os.Exit(1)
	}
}

func run() error {
	listen := flag.String("listen", "127.0.0.1:7000", "`address`")
	book := flag.String("ledger", "", "`file` that the ledger is appended to")
	flag.Parse()
	services, err := boot.FromEnvironment()
	if err != nil {
		return err
	}
	l, err := ledger.Open(*book)
	if err != nil {
		return errors.Join(err, services.Close())
	}
	table := services.Env().TaskAgents([]task.Agent{walk.Agent(func(_ context.Context, run string) error {
		_, err := l.Begin(walk.Name, run)
		return err
	})})
	for _, t := range triggers.Table(services, table) {
		table = append(table, t.Function(services.Log))
	}
	mux := http.NewServeMux()
	for _, f := range table {
		mux.Handle("/"+f.Name, http.StripPrefix("/"+f.Name, f.Handler))
		mux.Handle("/"+f.Name+"/", http.StripPrefix("/"+f.Name, f.Handler))
	}
	server := &http.Server{Addr: *listen, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return errors.Join(server.ListenAndServe(), l.Close(), services.Close())
}
