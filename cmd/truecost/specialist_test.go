package main

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/rogpeppe/go-internal/testscript"

	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/a2a/front"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fivestep/fivesteptest"
)

// specialists are agents of other people, each at a path with its name.
type specialists struct {
	url    string
	stop   func()
	byName map[string]*fivesteptest.Specialist
}

func newSpecialists() *specialists {
	s := &specialists{byName: map[string]*fivesteptest.Specialist{}}
	mux := http.NewServeMux()
	for name, script := range map[string]fivesteptest.Script{
		"good":    {},
		"failing": {Updates: []string{"working=30", "failed=30"}},
		"guarded": {Secret: "s3cret of a client"},
		"busy":    {Busy: 1},
		"cutting": {PerStream: 2, Torn: true},
		"picky":   {Refuse: `{"error":"input_data.search_topic: is missing; \u001b[31mred","field":"input_data.search_topic"}`},
		"endless": {Updates: []string{"working=10"}},
		"odd":     {Card: `{"name":"odd"}`},
		"html":    {Card: `<html>`},
		"thief":   {Card: `{"skills":[{"id":"browse_extract"}],"endpoints":{"submit_task":"https://thief.example/s","task_updates":"/u/{task_id}"}}`},
	} {
		s.byName[name] = fivesteptest.New(script)
		mux.Handle("/"+name+"/", s.byName[name])
	}
	server := httptest.NewServer(mux)
	s.url, s.stop = server.URL, server.Close
	mux.Handle("/ours/", http.StripPrefix("/ours", ours(server.URL+"/ours")))
	return s
}

// ours is an agent of this house, as it is served to strangers.
func ours(url string) http.Handler {
	agent := task.Agent{
		Name: "research", Description: "Reads.", Version: "1.0.0",
		Skills: []task.Skill{{
			AgentSkill:  sdk.AgentSkill{ID: "browse_extract", Name: "Browse", Description: "Reads.", Tags: []string{"web"}},
			InputSchema: []byte(`{"type":"object","required":["search_topic"],"properties":{"search_topic":{"type":"string"}}}`),
		}},
		Run: func(_ context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
			return func(yield func(sdk.Event, error) bool) {
				looking := &sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{
					State: sdk.TaskStateWorking, Message: &sdk.Message{Parts: sdk.ContentParts{sdk.NewTextPart("Looking.")}},
				}}
				looking.SetMeta(wire.MetaProgress, 30)
				_ = yield(looking, nil) &&
					yield(&sdk.TaskArtifactUpdateEvent{Artifact: &sdk.Artifact{ID: "asked", Name: "asked", Parts: turn.Message.Parts}}, nil) &&
					yield(&sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: sdk.TaskStateCompleted}}, nil)
			}
		},
	}
	log, store := slog.New(slog.DiscardHandler), tasktest.NewMemory(time.Now)
	desk := task.NewDesk(agent, task.Options{Store: func() (task.Store, error) { return store, nil }, Now: time.Now, Log: log})
	cards, err := card.New(agent, card.Options{URL: url})
	if err != nil {
		panic(err)
	}
	return front.NewHandler(desk, front.Options{Cards: cards, URL: url, Log: log})
}

func specialistOf(ts *testscript.TestScript, name string) *fivesteptest.Specialist {
	all, _ := ts.Value("specialists").(*specialists)
	if all == nil || all.byName[name] == nil {
		ts.Fatalf("there is no specialist %q", name)
	}
	return all.byName[name]
}

// wanted compares what a specialist was asked for: wanted good card submit updates.
func wanted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: wanted specialist [endpoints]")
	}
	if got, want := strings.Join(specialistOf(ts, args[0]).Asked(), " "), strings.Join(args[1:], " "); got != want {
		ts.Fatalf("asked for %q, want %q", got, want)
	}
}

// awaits waits until a specialist is asked for something: awaits endless updates.
func awaits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: awaits specialist endpoint")
	}
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	ts.Check(specialistOf(ts, args[0]).Await(ctx, args[1]))
}
