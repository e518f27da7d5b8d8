package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/a2a/front"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/webhook"
	"truecost.dev/shared/egress"
	"truecost.dev/shared/gcp/docstore"
)

// system is the agent with all that serves it, in one process.
type system struct {
	base    string
	handler http.Handler
	close   func() error
}

func newSystem(ctx context.Context, addr string, c config, log *slog.Logger) (*system, error) {
	s := &system{base: "http://" + addr + strings.TrimSuffix(c.mount, "/")}
	server := fsemu.New(fsemu.Options{})
	conn, err := server.Dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("dial the store: %w", err)
	}
	client, err := firestore.NewClient(ctx, "conformance", option.WithGRPCConn(conn))
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	store := docstore.NewTasks(client)
	out := egress.New(egress.Options{Plain: true, Loopback: true, Timeout: webhook.Timeout})
	work := newQueue(ctx, log)
	desk := task.NewDesk(agent(), task.Options{
		Store:  func() (task.Store, error) { return store, nil },
		Finder: func() (task.Finder, error) { return store, nil },
		Queue:  func() (task.Queue, error) { return work, nil },
		Now:    func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) },
		Log:    log, Push: !c.noPush, Allow: out.Allow,
	})
	sender := &webhook.Sender{HTTP: out, Log: log, Early: front.EarlyTask}
	work.start(&task.Worker{Desks: map[string]*task.Desk{desk.Agent().Name: desk}, Post: sender.Post})

	cards, err := card.New(desk.Agent(), card.Options{URL: s.base, Modern: !c.union, Push: !c.noPush, Extended: true})
	if err != nil {
		return nil, fmt.Errorf("make the cards: %w", err)
	}
	s.handler = front.NewHandler(desk, front.Options{
		Authenticate: func(*http.Request) (task.Caller, error) { return task.Caller{ID: "kit"}, nil },
		Cards:        cards, Extended: cards.Extended, URL: s.base, Log: log,
	})
	s.close = func() error {
		work.stop()
		return errors.Join(client.Close(), server.Close())
	}
	return s, nil
}
