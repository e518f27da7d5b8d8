package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"truecost.dev/internal/chaos/supervise"
	"truecost.dev/shared/callable"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/gcp/docstore"
)

// Paces of the world: those of production in small.
const (
	stepLease = time.Second
	taskLease = 5 * time.Second // above any outage of the store: who cannot renew loses the task without having died
	sweep     = 500 * time.Millisecond
)

// A world is a store, two engines and the agents, each a process, and what a
// frontend has of them.
type world struct {
	config
	dir       string // data, logs, ledger
	processes sync.WaitGroup
	end       context.CancelFunc

	store, agents *supervise.Process
	engines       []*supervise.Process

	callable.Client
	db   *firestore.Client
	docs *docstore.Store
	flow func(ctx context.Context, hash string) (*engine.Flow, error)
	supervise.Findings
}

// ports of a world, by what listens there.
type ports struct{ functions, firestore, pubsub, hosting, inspector, agents, first, second int }

// newWorld starts a world below a directory and returns when it answers.
func newWorld(ctx context.Context, c config, dir string) (*world, error) {
	if err := supervise.Build(ctx, filepath.Join(dir, "bin"), "truecost.dev/emulator", "truecost.dev/cmd/functions", "truecost.dev/internal/chaos/agents"); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o750); err != nil {
		return nil, err
	}
	var p ports
	err := supervise.FreePorts(ctx, &p.functions, &p.firestore, &p.pubsub, &p.hosting, &p.inspector, &p.agents, &p.first, &p.second)
	if err != nil {
		return nil, err
	}
	w := &world{config: c, dir: dir}
	conn, err := grpc.NewClient(supervise.Address(p.firestore), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	if w.db, err = firestore.NewClient(ctx, "truecost", option.WithGRPCConn(conn)); err != nil {
		return nil, err
	}
	w.docs = docstore.New(w.db)
	w.flow = remembered(w.docs.Flow)
	w.Client = callable.Client{BaseURL: "http://" + supervise.Address(p.functions) + "/truecost/us-central1", HTTP: &http.Client{Timeout: 10 * time.Second}}
	if err := w.describe(p); err != nil {
		return nil, err
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	w.end = end
	f := supervise.NewForker(running)
	for _, process := range w.all() {
		w.processes.Go(func() { process.Keep(running, f) })
	}
	for _, port := range []int{p.inspector, p.agents, p.first, p.second} {
		if err := supervise.Answers(ctx, supervise.Address(port)); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	return w, nil
}

// describe says how each process is begun.
func (w *world) describe(p ports) (err error) {
	program := func(name, binary string, args, env []string) *supervise.Process {
		log, failed := os.OpenFile(filepath.Join(w.dir, "logs", name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // G304: below our own directory
		err = errors.Join(err, failed)
		return &supervise.Process{Name: name, Path: filepath.Join(w.dir, "bin", binary), Args: args, Env: append(supervise.Environment(), env...), Log: log}
	}
	firestoreHost := "FIRESTORE_EMULATOR_HOST=" + supervise.Address(p.firestore)
	args := []string{
		"-data", filepath.Join(w.dir, "data"), "-functions", "http://" + supervise.Address(p.first) + ",http://" + supervise.Address(p.second),
		"-functions-port", strconv.Itoa(p.functions), "-firestore-port", strconv.Itoa(p.firestore), "-pubsub-port", strconv.Itoa(p.pubsub),
		"-hosting-port", strconv.Itoa(p.hosting), "-inspector-port", strconv.Itoa(p.inspector),
		"-min-backoff", "100ms", "-max-backoff", "1s", "-sweep", sweep.String(),
	}
	if w.double {
		args = append(args, "-pubsub-copies", "2", "-pubsub-delay", "500ms")
	}
	w.store = program("store", "emulator", args, nil)
	w.agents = program("agents", "agents", []string{
		"-listen", supervise.Address(p.agents), "-ledger", w.ledgerPath(), "-lease", taskLease.String(),
	}, []string{firestoreHost})
	for i, port := range []int{p.first, p.second} {
		w.engines = append(w.engines, program("engine"+strconv.Itoa(i+1), "functions", nil, []string{
			"PORT=" + strconv.Itoa(port), "GOOGLE_CLOUD_PROJECT=truecost", firestoreHost, "PUBSUB_EMULATOR_HOST=" + supervise.Address(p.pubsub),
			"A2A_BASE_URL=http://" + supervise.Address(p.agents), "TRUECOST_LOCAL_AUTH=true",
			"TRUECOST_STEP_LEASE=" + stepLease.String(), "TRUECOST_OVERDUE=" + sweep.String(), "TRUECOST_RETRY_PAUSE=200ms",
			"TRUECOST_AGENT_TIMEOUT=30s", "TRUECOST_RUNS_AT_ONCE=0", "TRUECOST_STARTS_PER_MINUTE=0",
		}))
	}
	return err
}

func (w *world) ledgerPath() string { return filepath.Join(w.dir, "ledger") }

func (w *world) all() []*supervise.Process {
	return append([]*supervise.Process{w.store, w.agents}, w.engines...)
}

// close ends every process and waits for it.
func (w *world) close() error {
	w.end()
	w.processes.Wait()
	errs := []error{w.db.Close()}
	for _, p := range w.all() {
		errs = append(errs, p.Log.Close())
	}
	return errors.Join(errs...)
}

// remembered asks for each flow once.
func remembered(load func(context.Context, string) (*engine.Flow, error)) func(context.Context, string) (*engine.Flow, error) {
	var mu sync.Mutex // guards known
	known := map[string]*engine.Flow{}
	return func(ctx context.Context, hash string) (*engine.Flow, error) {
		mu.Lock()
		f := known[hash]
		mu.Unlock()
		if f != nil {
			return f, nil
		}
		f, err := load(ctx, hash)
		if err == nil {
			mu.Lock()
			known[hash] = f
			mu.Unlock()
		}
		return f, err
	}
}
