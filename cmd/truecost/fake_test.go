package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/firestore"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/callable"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/host"
)

// fake is a service with real fronts and a real Firestore in which a run is a
// story: versions of the document, written one after the other.
type fake struct {
	functions *httptest.Server
	inspector *httptest.Server
	firestore string
	testdata  string // absolute: scripts run in folders of their own
	db        *firestore.Client
	stop      func()

	mu      sync.Mutex
	started []string // ids, in order
	asked   []string // data of calls that control a run, in order
	writers sync.WaitGroup
}

func newFake() (*fake, error) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		return nil, err
	}
	f := &fake{testdata: testdata}
	server := fsemu.New(fsemu.Options{})
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() { _ = server.Serve(l) }()
	f.firestore = l.Addr().String()
	if f.db, err = (&service{endpoints: endpoints{Firestore: f.firestore, Project: "truecost"}}).open(context.Background()); err != nil {
		return nil, err
	}
	f.functions = httptest.NewServer(f.mux())
	f.inspector = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"services": map[string]string{"functions": f.functions.Listener.Addr().String(), "firestore": f.firestore},
			"project":  "truecost", "region": "us-central1",
		})
	}))
	f.stop = func() {
		f.writers.Wait()
		f.functions.Close()
		f.inspector.Close()
		_ = f.db.Close()
		_ = server.Close()
	}
	return f, nil
}

func (f *fake) url() string { return f.functions.URL + "/truecost/us-central1" }

func (f *fake) mux() http.Handler {
	mux := http.NewServeMux()
	log := slog.New(slog.DiscardHandler)
	for name, handle := range map[string]func(context.Context, callable.Call) (any, error){
		"start_deep_pipeline": f.start, "cancel_pipeline": f.cancel,
		"list_runs": f.listRuns, "get_run": f.getRun, "retry_pipeline": f.retry, "provide_input": f.control("provide_input"),
		"generate_pdf": f.pdf, "export_estimate": f.exported,
		"hold_pipeline": f.control("hold_pipeline"), "resume_pipeline": f.control("resume_pipeline"),
	} {
		mux.Handle("/truecost/us-central1/"+name, callable.NewHandler(callable.Func{Name: name, Handle: handle}, callable.Options{Log: log, AllowAnonymous: true}))
	}
	tasks := tasktest.NewMemory(time.Now)
	env := host.Env{
		Log: log, Now: time.Now, AgentURL: "http://fake.example/truecost/us-central1",
		Tasks: func() (task.Store, error) { return tasks, nil },
	}
	for _, name := range append(agentNames(), standalone...) {
		agent := a2a.Agent{Name: name, Version: "1.0.0", Description: "does the work of " + name, Skills: []string{"work"}, Serve: echo}
		h := env.Agents([]a2a.Agent{agent})[0].Handler
		mux.Handle("/truecost/us-central1/a2a_"+name, h)
		mux.Handle("/truecost/us-central1/a2a_"+name+"/", h)
	}
	return mux
}

// echo answers with what it was asked, but not for ever.
func echo(_ context.Context, r a2a.Request) (json.RawMessage, error) {
	if strings.Contains(string(r.Input), "impossible") {
		return nil, fault.New(fault.Invalid, "input: impossible")
	}
	return json.Marshal(map[string]any{"asked": r, "named": r.EstimateID != ""})
}

type startRequest struct {
	EstimateID    string          `json:"estimateId"`
	UserID        string          `json:"userId"`
	Clarification json.RawMessage `json:"clarificationOutput"`
}

func (f *fake) start(_ context.Context, in callable.Call) (any, error) {
	var r startRequest
	if err := json.Unmarshal(in.Data, &r); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "data")
	}
	f.mu.Lock()
	f.started = append(f.started, r.EstimateID)
	f.mu.Unlock()
	kind, _, _ := strings.Cut(r.EstimateID, "-")
	if kind == "taken" {
		return nil, fault.New(fault.Conflict, "estimate %s exists with another input", r.EstimateID)
	}
	if r.UserID == "" {
		r.UserID = "local"
	}
	story := stories[kind]
	if story == nil {
		story = success
	}
	return map[string]any{"success": true}, f.tell(r.EstimateID, r.UserID, story())
}

func (f *fake) cancel(ctx context.Context, in callable.Call) (any, error) {
	var r startRequest
	if err := json.Unmarshal(in.Data, &r); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "data")
	}
	ref := f.db.Collection("estimates").Doc(r.EstimateID)
	_, err := ref.Update(ctx, []firestore.Update{{Path: "status", Value: "canceled"}})
	if err != nil {
		return nil, fault.New(fault.NotFound, "there is no estimate %s", r.EstimateID)
	}
	return answered(map[string]any{"estimateId": r.EstimateID, "runId": r.EstimateID + "~1", "status": "canceled"})
}

// tell writes the first version before it returns and the others after.
func (f *fake) tell(id, user string, versions []map[string]any) error {
	ref := f.db.Collection("estimates").Doc(id)
	write := func(n int) error {
		doc := versions[n]
		doc["userId"], doc["createdAt"] = user, time.Unix(0, 0).UTC()
		doc["updatedAt"] = time.Unix(int64(n)*60, 0).UTC()
		_, err := ref.Set(context.Background(), doc)
		return err
	}
	if err := write(0); err != nil {
		return fmt.Errorf("write %s: %w", id, err)
	}
	f.writers.Go(func() {
		var errs error
		for n := range versions[1:] {
			errs = errors.Join(errs, write(n+1))
		}
		if errs != nil {
			panic(errs)
		}
	})
	return nil
}

// stories by the first word of an id.
var stories = map[string]func() []map[string]any{
	"ok": success, "fail": failure, "slow": func() []map[string]any { return success()[:2] },
}

// stage is a running document whose first n agents are done.
func stage(n int, scores, retries map[string]int) map[string]any {
	p := map[string]any{
		"completedAgents": estimate.Agents[:n], "progress": 100 * n / len(estimate.Agents), "scores": scores, "retries": retries,
		"currentAgent": nil, "error": nil,
	}
	if n < len(estimate.Agents) {
		p["currentAgent"] = estimate.Agents[n]
		p["currentRetry"] = retries[estimate.Agents[n]]
	}
	doc := map[string]any{"status": "processing", "projectName": "Vine Street kitchen", "pipelineStatus": p}
	if n > 0 {
		doc["locationOutput"] = fieldsOf(estimate.Location{LocationFactor: 1.042, City: "Denver", State: "CO", Zip: "80206"})
	}
	return doc
}

// success is a run whose cost was judged twice.
func success() []map[string]any {
	scores := map[string]int{}
	versions := []map[string]any{stage(0, nil, nil)}
	for i, agent := range estimate.Agents {
		retries := map[string]int{}
		if agent == "cost" {
			scores["cost"], scores["cost_attempt_0"], retries["cost"] = 60, 60, 1
			versions = append(versions, stage(i, maps.Clone(scores), retries))
			scores["cost_attempt_1"] = 85
			scores["cost"] = 85
		} else {
			scores[agent], scores[agent+"_attempt_0"] = 90+i, 90+i
		}
		if i >= 2 {
			retries["cost"] = 1
		}
		versions = append(versions, stage(i+1, maps.Clone(scores), retries))
	}
	last := versions[len(versions)-1]
	last["status"] = "complete"
	last["finalOutput"] = fieldsOf(finished())
	last["totalCost"], last["p50"], last["p80"], last["p90"] = 71234.5, 65000, 71234.5, 75000.25
	last["timelineWeeks"] = 9.4
	return versions
}

// failure is a run whose cost never got better.
func failure() []map[string]any {
	scores := map[string]int{"location": 92, "location_attempt_0": 92, "scope": 91, "scope_attempt_0": 91}
	versions := []map[string]any{stage(0, nil, nil), stage(2, maps.Clone(scores), nil)}
	for n, score := range []int{60, 70, 75} {
		scores["cost"], scores[fmt.Sprintf("cost_attempt_%d", n)] = score, score
		versions = append(versions, stage(2, maps.Clone(scores), map[string]int{"cost": n}))
	}
	last := versions[len(versions)-1]
	last["status"] = "failed"
	p := last["pipelineStatus"].(map[string]any)
	p["currentAgent"] = "cost_failed"
	p["criticFeedback"] = map[string]any{"cost": map[string]any{"issues": []string{"total.low: The price is far from that of such a job.", "lines: \x1b[31mSix are twice there."}}}
	p["error"] = map[string]any{"code": "AGENT_MAX_RETRIES_EXCEEDED", "agent": "cost", "message": "cost scored 75 after 3 attempts; 80 is needed"}
	total := estimate.Fixed(money.FromFloat(51000))
	last["costOutput"] = fieldsOf(estimate.Cost{Total: total, Subtotals: estimate.CostSubtotals{Subtotal: estimate.Fixed(money.FromFloat(40000))}})
	return versions
}

func finished() estimate.Final {
	return estimate.Final{
		Executive: estimate.ExecutiveSummary{
			ProjectType: "kitchen_remodel", Sqft: 200, Finish: "mid_range", TotalCost: 7123450, ContingencyPct: 9.6,
			Range: estimate.Percentiles{P50: 6500000, P80: 7123450, P90: 7500025},
		},
		Breakdown: estimate.CostBreakdown{
			Direct: 5000000, Overhead: 800050, Profit: 500000, Permits: 80000, Taxes: 120000,
			BeforeContingency: 6500050, Contingency: 623400, Total: 7123450,
		},
	}
}

// fieldsOf turns a value with JSON tags into fields of a document.
func fieldsOf(v any) map[string]any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		panic(err)
	}
	return m
}
