package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/sethvargo/go-envconfig"

	"truecost.dev/emulator/hub"
	"truecost.dev/shared/boot"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/cloudlog"
	"truecost.dev/shared/host"
	"truecost.dev/shared/runner"
	"truecost.dev/triggers"
)

const (
	project = "truecost"
	region  = "us-central1"
)

// engineRole configures an engine process.
type engineRole struct {
	Firestore string        `json:"firestore"`
	PubSub    string        `json:"pubsub"`
	Agents    string        `json:"agents"` // base address
	Lease     time.Duration `json:"lease"`
	Sweep     time.Duration `json:"sweep"` // between two ticks
}

func (r engineRole) config(ctx context.Context) (boot.Config, error) {
	return boot.Load(ctx, envconfig.MapLookuper(map[string]string{
		"GOOGLE_CLOUD_PROJECT": project, "FIRESTORE_EMULATOR_HOST": r.Firestore, "PUBSUB_EMULATOR_HOST": r.PubSub,
		"A2A_BASE_URL": r.Agents, "TRUECOST_STEP_LEASE": r.Lease.String(), "TRUECOST_LOCAL_AUTH": "true",
		"TRUECOST_RUNS_AT_ONCE": "0", "TRUECOST_STARTS_PER_MINUTE": "0", // one user has them all
	}))
}

// serveEngine is a process with the event functions of the module on a hub, and
// the floor beside them, behind a subscription of the same kind.
func serveEngine(ctx context.Context, r engineRole) error {
	conf, err := r.config(ctx)
	if err != nil {
		return err
	}
	log := cloudlog.New(os.Stderr)
	services := boot.New(conf, log)
	defer services.Close()
	run, err := services.Runner()
	if err != nil {
		return err
	}
	seen := newObserver(run.Store, os.Stdout)
	run.Store, run.Bus, run.Pipelines = seen, &meteredBus{Bus: run.Bus, observer: seen}, pipelines()
	if err := run.Deploy(ctx); err != nil {
		return err
	}
	floor, err := newFloor(ctx, r, seen)
	if err != nil {
		return err
	}
	h, err := hub.Start(ctx, hub.Config{
		Project: project, Region: region, FirestoreHost: r.Firestore, PubSubHost: r.PubSub, Log: log,
		Push:      host.Push{Backoff: [2]time.Duration{time.Second, 10 * time.Second}},
		Schedules: []hub.Schedule{{Topic: conf.SweepTopic, Every: r.Sweep}},
		Functions: func(hub.Addresses) ([]host.Function, error) {
			list := triggers.Table(services, nil)
			list = append(list, floor.trigger(list[0].Push))
			table := make([]host.Function, len(list))
			for i, t := range list {
				table[i] = t.Function(log)
			}
			return table, nil
		},
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			log.LogAttrs(ctx, slog.LevelError, "stop", slog.Any("error", err))
		}
	}()
	pages := http.NewServeMux()
	pages.HandleFunc("GET /seen", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(seen.take()) })
	pages.HandleFunc("POST /start/{id}", func(w http.ResponseWriter, q *http.Request) {
		if _, err := run.Start(q.Context(), startOf(q.PathValue("id"), smallInput)); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	return announce(ctx, ready{}, pages)
}

// meteredBus counts the messages of a process.
type meteredBus struct {
	runner.Bus
	observer *observer
}

// Publish implements runner.Bus.
func (b *meteredBus) Publish(ctx context.Context, messages ...runner.Message) error {
	b.observer.sent(len(messages))
	return b.Bus.Publish(ctx, messages...)
}

// Commit implements runner.Store; see observer.
func (o *observer) Commit(ctx context.Context, c runner.Commit) error {
	err := o.Store.Commit(ctx, c)
	if c.Run != nil && len(c.Steps) > 0 {
		o.recorded(c.Run.RunID(), fault.KindOf(err) == fault.Conflict, err == nil && c.Run.Status.Ended())
	} else if c.Run != nil && err == nil && c.Run.Status.Ended() {
		o.recorded(c.Run.RunID(), false, true)
	}
	return err
}
