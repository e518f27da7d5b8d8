// Package local runs this module's own functions on a hub: what go run
// ./emulator starts, and what the command line starts when nothing runs.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sethvargo/go-envconfig"

	"truecost.dev/emulator/hub"
	"truecost.dev/functions"
	"truecost.dev/shared/boot"
	"truecost.dev/shared/host"
	"truecost.dev/triggers"
)

// On a desk nobody waits for a cloud: unless the environment says otherwise,
// pauses are short, and a worker that died is noticed within seconds.
var desk = envconfig.MapLookuper(map[string]string{
	"TRUECOST_AGENT_TIMEOUT":     "15s",
	"TRUECOST_RETRY_PAUSE":       "1s",
	"TRUECOST_STEP_LEASE":        "6s",
	"TRUECOST_TASK_LEASE":        "3s",
	"TRUECOST_OVERDUE":           "3s",
	"TRUECOST_RUNS_AT_ONCE":      "100", // whoever does not sign in is one user
	"TRUECOST_STARTS_PER_MINUTE": "1000",
})

// A push that failed comes again soon.
var deskBackoff = [2]time.Duration{500 * time.Millisecond, 10 * time.Second}

// sweepEvery is how often the sweeper looks; in the cloud, every minute.
const sweepEvery = 2 * time.Second

// A System is a hub with the module's functions on it.
type System struct {
	*hub.Hub
	services *boot.Services
}

// Start starts the system; ctx bounds the start alone. c says where and as
// whom; its Functions and Schedules are filled in here. The functions read
// their configuration from env, except for the addresses of the services, which
// are the hub's. FIRESTORE_EMULATOR_HOST and PUBSUB_EMULATOR_HOST in env name
// servers that take the place of the embedded ones. With c.Forward the functions
// are those of other processes, which read their own environment; what is built
// here is the list of them. With c.Data the state is kept there.
func Start(ctx context.Context, c hub.Config, env envconfig.Lookuper) (*System, error) {
	conf, err := boot.Load(ctx, envconfig.MultiLookuper(envconfig.MapLookuper(map[string]string{
		"GOOGLE_CLOUD_PROJECT": c.Project, "TRUECOST_REGION": c.Region,
	}), env, desk))
	if err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &System{}
	c.FirestoreHost, c.PubSubHost = conf.FirestoreHost, conf.PubSubHost
	c.Schedules = []hub.Schedule{{Topic: conf.SweepTopic, Every: sweepEvery}}
	low, high := &c.Push.Backoff[0], &c.Push.Backoff[1]
	*low = cmp.Or(*low, min(deskBackoff[0], cmp.Or(*high, deskBackoff[0])))
	*high = cmp.Or(*high, max(deskBackoff[1], *low))
	c.Functions = func(at hub.Addresses) ([]host.Function, error) {
		conf.FirestoreHost, conf.PubSubHost, conf.LocalAuth = at.Firestore, at.PubSub, true
		if agents, set := env.Lookup("A2A_BASE_URL"); !set || agents == "" {
			conf.AgentsURL = at.FunctionsURL()
		}
		if err := conf.Validate(); err != nil {
			return nil, err
		}
		s.services = boot.New(conf, c.Log)
		table := functions.Table(s.services)
		if err := s.services.CheckFlows(table); err != nil {
			return nil, err
		}
		for _, t := range triggers.Table(s.services, table) {
			table = append(table, t.Function(c.Log))
		}
		return table, nil
	}
	if s.Hub, err = hub.Start(ctx, c); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// Stop stops the hub as hub.Hub.Stop does, and then the functions' clients.
func (s *System) Stop(ctx context.Context) error {
	return errors.Join(s.Hub.Stop(ctx), s.close())
}

func (s *System) close() error {
	if s.services == nil {
		return nil
	}
	if err := s.services.Close(); err != nil {
		return fmt.Errorf("close the functions' clients: %w", err)
	}
	return nil
}
