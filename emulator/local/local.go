// Package local is TrueCost on one machine: the hub with the module's own
// functions in it. The emulator, the command line and the tests start the same
// system through it.
package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sethvargo/go-envconfig"

	"truecost.dev/emulator/hub"
	"truecost.dev/emulator/pubsub"
	"truecost.dev/functions"
	"truecost.dev/shared/boot"
	"truecost.dev/shared/host"
	"truecost.dev/triggers"
)

// Config of a local system. The zero value takes free ports and logs nothing.
type Config struct {
	Ports      hub.Ports
	PortOffset int

	// Addresses of emulators that run already; "" embeds one.
	FirestoreHost, PubSubHost string

	Faults pubsub.Faults
	Push   hub.Push
	Env    map[string]string // configuration that goes before the environment's
	Log    *slog.Logger
}

// On one machine nobody waits for a cloud: pauses are short, and a worker that
// died is noticed in seconds.
var defaults = envconfig.MapLookuper(map[string]string{
	"GOOGLE_CLOUD_PROJECT":   "truecost",
	"TRUECOST_LOCAL_AUTH":    "true",
	"TRUECOST_AGENT_TIMEOUT": "30s",
	"TRUECOST_RETRY_PAUSE":   "1s",
	"TRUECOST_STEP_LEASE":    "6s",
})

const sweepEvery = 2 * time.Second

// System is a local system that runs.
type System struct {
	*hub.Hub
	services *boot.Services
}

// Start starts a local system and returns when it is ready.
func Start(ctx context.Context, c Config) (*System, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	lookup := envconfig.MultiLookuper(envconfig.MapLookuper(c.Env), withoutEmulators{envconfig.OsLookuper()}, defaults)
	// The addresses are not known yet: any will do to read project and region.
	config, err := boot.Load(ctx, envconfig.MultiLookuper(envconfig.MapLookuper(map[string]string{"FIRESTORE_EMULATOR_HOST": "127.0.0.1"}), lookup))
	if err != nil {
		return nil, err
	}
	s := &System{}
	s.Hub, err = hub.Start(ctx, hub.Config{
		Project: config.Project, Region: config.Region, Ports: c.Ports, PortOffset: c.PortOffset,
		FirestoreHost: c.FirestoreHost, PubSubHost: c.PubSubHost, Faults: c.Faults, Push: c.Push, Log: c.Log,
		Schedules: []hub.Schedule{{Topic: config.SweepTopic, Every: sweepEvery}},
		Functions: func(at hub.Addresses) ([]host.Function, error) {
			config.FirestoreHost, config.PubSubHost = at.Firestore, at.PubSub
			if _, set := lookup.Lookup("A2A_BASE_URL"); !set {
				config.AgentsURL = at.FunctionsURL()
			}
			s.services = boot.New(config, c.Log)
			return table(s.services), nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("start the local system: %w", err)
	}
	return s, nil
}

// Stop stops everything in the order that lets work under way end.
func (s *System) Stop(ctx context.Context) error {
	return errors.Join(s.Hub.Stop(ctx), s.services.Close())
}

func table(s *boot.Services) []host.Function {
	all := functions.Table(s)
	for _, t := range triggers.Table(s) {
		all = append(all, t.Function(s.Log))
	}
	return all
}

// withoutEmulators hides the variables whose place the Config takes.
type withoutEmulators struct{ envconfig.Lookuper }

func (w withoutEmulators) Lookup(key string) (string, bool) {
	if key == "FIRESTORE_EMULATOR_HOST" || key == "PUBSUB_EMULATOR_HOST" {
		return "", false
	}
	return w.Lookuper.Lookup(key)
}
