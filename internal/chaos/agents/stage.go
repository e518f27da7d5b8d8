package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"truecost.dev/functions/cost"
	"truecost.dev/functions/final"
	"truecost.dev/functions/location"
	"truecost.dev/functions/risk"
	"truecost.dev/functions/scope"
	"truecost.dev/functions/timeline"
	"truecost.dev/internal/chaos/ledger"
	"truecost.dev/internal/chaos/script"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/agent"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/host"
)

// maxMessage bounds a message in bytes, as the front does.
const maxMessage = 10 << 20

// A stage has the agents of the estimate flow on it.
type stage struct {
	ledger *ledger.Ledger
	tasks  task.Store
	lease  time.Duration
	log    *slog.Logger
}

func newStage(l *ledger.Ledger, tasks task.Store, lease time.Duration, log *slog.Logger) *stage {
	return &stage{ledger: l, tasks: &witness{Store: tasks, ledger: l}, lease: lease, log: log}
}

// handler serves every agent at /a2a_{name}.
func (s *stage) handler() http.Handler {
	mux := http.NewServeMux()
	env := host.Env{Log: s.log, Now: time.Now, Tasks: func() (task.Store, error) { return s.tasks, nil }, TaskLease: s.lease}
	for _, family := range [][]agent.Spec{
		location.Agents(), scope.Agents(), cost.Agents(), risk.Agents(), timeline.Agents(), final.Agents(),
	} {
		for _, spec := range family {
			a := actor{name: spec.Name, ledger: s.ledger, work: once(spec)}
			spec.Serve = a.serve
			mux.Handle("/a2a_"+spec.Name, s.named(spec.Name, env.Agents([]agent.Spec{spec})[0].Handler))
		}
	}
	return mux
}

// callKey is under which a context has the id of the call.
type callKey struct{}

// named enters each message in the ledger and hands its id on, which the front
// keeps to itself.
func (s *stage) named(agent string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
		if err != nil {
			http.Error(w, "the message cannot be read", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var head struct {
			ID     string `json:"id"`
			Method string `json:"method"`
		}
		if json.Unmarshal(body, &head) == nil && head.Method == "message/send" {
			if err := s.ledger.Asked(agent, head.ID); err != nil {
				http.Error(w, "the ledger cannot be written", http.StatusInternalServerError)
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), callKey{}, head.ID))
		}
		next.ServeHTTP(w, r)
	})
}

// An actor plays one agent as the script has it.
type actor struct {
	name   string
	ledger *ledger.Ledger
	work   func(context.Context, a2a.Request) (map[string]any, error)
}

func (a *actor) serve(ctx context.Context, req a2a.Request) (json.RawMessage, error) {
	call, _ := ctx.Value(callKey{}).(string)
	fate := script.Of(call)
	before, err := a.ledger.Begin(a.name, call)
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Canceled, context.Cause(ctx), "nobody waits")
	case <-time.After(fate.Pause):
	}
	switch {
	case before < fate.Busy:
		return nil, fault.New(fault.Unavailable, "%s is busy", a.name)
	case fate.Refuses:
		return nil, fault.New(fault.Invalid, "%s refuses", a.name)
	}
	out, err := a.answer(ctx, req, call, fate)
	if err == nil {
		err = a.ledger.Paid(a.name, call)
	}
	return out, err
}

// answer is the result of a call, which names the call.
func (a *actor) answer(ctx context.Context, req a2a.Request, call string, fate script.Fate) (json.RawMessage, error) {
	if strings.HasSuffix(a.name, "_scorer") {
		return json.Marshal(map[string]any{"score": fate.Score, "feedback": "as the script has it", "call": call})
	}
	if strings.HasSuffix(a.name, "_critic") {
		return json.Marshal(agent.Critique{Issues: []string{"as the script has it"}, WhyWrong: call, HowToFix: []string{"try again"}, Score: fate.Score})
	}
	out, err := a.work(ctx, req)
	if err != nil {
		return nil, err
	}
	named := maps.Clone(out)
	if _, has := out["estimateId"]; has {
		named["estimateId"] = req.EstimateID
	}
	named["call"] = call
	return json.Marshal(named)
}

// once returns the work of a real agent, done once, and in brief: every estimate
// here has the same input, and it is the engine that is to be busy.
func once(spec agent.Spec) func(context.Context, a2a.Request) (map[string]any, error) {
	var mu sync.Mutex // guards out
	var out map[string]any
	return func(ctx context.Context, req a2a.Request) (map[string]any, error) {
		mu.Lock()
		defer mu.Unlock()
		if out != nil {
			return out, nil
		}
		req.Feedback = nil // which depends on the run
		b, err := spec.Serve(ctx, req)
		if err != nil {
			return nil, err
		}
		whole := map[string]any{}
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if err := d.Decode(&whole); err != nil {
			return nil, fmt.Errorf("read the output of %s: %w", spec.Name, err)
		}
		brief(whole)
		out = whole
		return out, nil
	}
}

// mostListed is how many elements of each list of an output are kept.
const mostListed = 2

// brief shortens every list of an output.
func brief(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = brief(member)
		}
	case []any:
		v = v[:min(len(v), mostListed)]
		for i, element := range v {
			v[i] = brief(element)
		}
		return v
	}
	return v
}
