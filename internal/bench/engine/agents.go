package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/host"
)

// agents answer at /a2a_<name> with the least that the dialect wants, and at
// /front/a2a_<name> through the module's own front, which keeps every task.
type agents struct {
	address string
	server  *http.Server
	chunks  atomic.Int64 // calls for a chunk
	pause   atomic.Int64 // nanoseconds that a call takes; 0 is none
	spread  atomic.Int64 // up to so many nanoseconds more, by chance

	called atomic.Pointer[func(estimate string)] // told of every call, if set
}

func serveAgents(tasks task.Store) (*agents, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &agents{address: "http://" + l.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{agent}", a.lean)
	env := host.Env{
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) },
		Tasks: func() (task.Store, error) { return tasks, nil },
	}
	for _, name := range []string{agent, scorer, strict, critic} {
		idle := a2a.Agent{
			Name: name, Description: "does nothing", Version: "1",
			Serve: func(_ context.Context, r a2a.Request) (json.RawMessage, error) {
				return json.RawMessage(work(name, r.Attempt, r.Input)), nil
			},
		}
		mux.Handle("POST /front/a2a_"+name, http.StripPrefix("/front", env.Agents([]a2a.Agent{idle})[0].Handler))
	}
	a.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = a.server.Serve(l) }() // ends with Close
	return a, nil
}

// work is what an agent comes to.
func work(name string, attempt int, input json.RawMessage) string {
	switch name {
	case scorer:
		return `{"score":90,"feedback":"fine"}`
	case strict:
		if attempt == 0 {
			return `{"score":60,"feedback":"thin"}`
		}
		return `{"score":90,"feedback":"fine"}`
	case critic:
		return `{"issues":["thin"],"why_wrong":"thin","how_to_fix":["more"]}`
	}
	var chunk struct {
		Items json.RawMessage `json:"items"`
	}
	if json.Unmarshal(input, &chunk) == nil && chunk.Items != nil {
		return `{"items":` + string(chunk.Items) + `}`
	}
	return `{"summary":"done"}`
}

// lean answers message/send. It reads what it must and writes one line.
func (a *agents) lean(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has gone
	}
	var q struct {
		ID     json.RawMessage `json:"id"`
		Params struct {
			Message struct {
				Parts []struct {
					Data struct {
						Estimate string          `json:"estimate_id"`
						Attempt  int             `json:"retry_attempt"`
						Input    json.RawMessage `json:"input"`
					} `json:"data"`
				} `json:"parts"`
			} `json:"message"`
		} `json:"params"`
	}
	if err := json.Unmarshal(body, &q); err != nil || len(q.Params.Message.Parts) == 0 {
		http.Error(w, "wanted message/send", http.StatusBadRequest)
		return
	}
	data := q.Params.Message.Parts[0].Data
	if told := a.called.Load(); told != nil {
		(*told)(data.Estimate)
	}
	pause := time.Duration(a.pause.Load())
	if more := a.spread.Load(); more > 0 {
		pause += time.Duration(rand.Int64N(more))
	}
	if pause > 0 {
		time.Sleep(pause)
	}
	result := work(strings.TrimPrefix(path.Base(r.URL.Path), "a2a_"), data.Attempt, data.Input)
	if strings.HasPrefix(result, `{"items"`) {
		a.chunks.Add(1)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"task_id":%s,"status":"completed","result":%s,"metadata":{}}}`, q.ID, q.ID, result)
}
