package main

import (
	"context"
	"errors"
	"fmt"
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
	"truecost.dev/internal/chaos/tasks/walk"
	"truecost.dev/shared/gcp/docstore"
)

// Paces of the world: those of production in small.
const (
	lease = 2 * time.Second
	sweep = 500 * time.Millisecond
)

// How often what happens to whom.
var (
	walkerDies  = supervise.Span{400 * time.Millisecond, 1500 * time.Millisecond}
	walkerStops = supervise.Span{2 * time.Second, 5 * time.Second}
	stopLasts   = supervise.Span{time.Second, 2 * lease}
)

// A world is a store and two walkers, each a process, and what clients have of
// them.
type world struct {
	config
	supervise.Findings
	dir       string // data, logs, ledgers
	processes sync.WaitGroup
	end       context.CancelFunc

	store   *supervise.Process
	walkers []*supervise.Process
	at      []string // addresses of the agent, by walker

	http  *http.Client
	db    *firestore.Client
	tasks *docstore.Tasks
}

// ports of a world, by what listens there.
type ports struct{ functions, firestore, pubsub, hosting, inspector, first, second int }

// newWorld starts a world below a directory and returns when it answers.
func newWorld(ctx context.Context, c config, dir string) (*world, error) {
	if err := supervise.Build(ctx, filepath.Join(dir, "bin"), "truecost.dev/emulator", "truecost.dev/internal/chaos/tasks/walker"); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o750); err != nil {
		return nil, err
	}
	var p ports
	if err := supervise.FreePorts(ctx, &p.functions, &p.firestore, &p.pubsub, &p.hosting, &p.inspector, &p.first, &p.second); err != nil {
		return nil, err
	}
	w := &world{config: c, dir: dir, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	conn, err := grpc.NewClient(supervise.Address(p.firestore), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	if w.db, err = firestore.NewClient(ctx, "truecost", option.WithGRPCConn(conn)); err != nil {
		return nil, err
	}
	w.tasks = docstore.NewTasks(w.db)
	if err := w.describe(p); err != nil {
		return nil, err
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	w.end = end
	f := supervise.NewForker(running)
	for _, process := range w.all() {
		w.processes.Go(func() { process.Keep(running, f) })
	}
	for _, port := range []int{p.inspector, p.first, p.second} {
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
	first, second := "http://"+supervise.Address(p.first), "http://"+supervise.Address(p.second)
	w.store = program("store", "emulator", []string{
		"-data", filepath.Join(w.dir, "data"), "-functions", first + "," + second,
		"-functions-port", strconv.Itoa(p.functions), "-firestore-port", strconv.Itoa(p.firestore), "-pubsub-port", strconv.Itoa(p.pubsub),
		"-hosting-port", strconv.Itoa(p.hosting), "-inspector-port", strconv.Itoa(p.inspector),
		"-min-backoff", "100ms", "-max-backoff", "1s", "-sweep", sweep.String(),
	}, nil)
	for i, port := range []int{p.first, p.second} {
		w.walkers = append(w.walkers, program(fmt.Sprintf("walker%d", i+1), "walker", []string{
			"-listen", supervise.Address(port), "-ledger", w.ledgerPath(i),
		}, []string{
			"GOOGLE_CLOUD_PROJECT=truecost", "FIRESTORE_EMULATOR_HOST=" + supervise.Address(p.firestore),
			"PUBSUB_EMULATOR_HOST=" + supervise.Address(p.pubsub), "A2A_BASE_URL=" + first, "TRUECOST_LOCAL_AUTH=true",
			"TRUECOST_TASK_LEASE=" + lease.String(), "TRUECOST_AGENT_TIMEOUT=60s",
		}))
		w.at = append(w.at, "http://"+supervise.Address(port)+"/a2a_"+walk.Name)
	}
	return err
}

func (w *world) ledgerPath(walker int) string {
	return filepath.Join(w.dir, fmt.Sprintf("ledger%d", walker+1))
}

func (w *world) all() []*supervise.Process {
	return append([]*supervise.Process{w.store}, w.walkers...)
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
