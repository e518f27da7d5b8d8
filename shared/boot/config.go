// Package boot turns the environment into configuration and configuration into
// ports, each opened at its first use. It is the only package under shared that
// reads the environment.
package boot

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/sethvargo/go-envconfig"

	"truecost.dev/shared/a2a/card"
)

// Config is everything an operator can set.
type Config struct {
	Project string `env:"GOOGLE_CLOUD_PROJECT, default=truecost"`
	Region  string `env:"TRUECOST_REGION, default=us-central1"`

	// Addresses of emulators; empty means the cloud.
	FirestoreHost string `env:"FIRESTORE_EMULATOR_HOST"`
	PubSubHost    string `env:"PUBSUB_EMULATOR_HOST"`

	// AgentsURL is the base address of the agent functions; empty is
	// https://{region}-{project}.cloudfunctions.net.
	AgentsURL string `env:"A2A_BASE_URL"`

	// CardKey signs the cards of the agents: P-256, in PEM. Empty: they are not signed.
	CardKey Secret `env:"TRUECOST_CARD_KEY"`

	Callers
	Outside

	StepsTopic   string `env:"TRUECOST_STEPS_TOPIC, default=truecost-steps"`     // calls of agents
	ControlTopic string `env:"TRUECOST_CONTROL_TOPIC, default=truecost-control"` // what takes a moment
	SweepTopic   string `env:"TRUECOST_SWEEP_TOPIC, default=truecost-sweep"`     // ticks of the scheduler
	WorkTopic    string `env:"TRUECOST_WORK_TOPIC, default=truecost-work"`       // agents' tasks that wait for a worker, and webhooks to be told
	DeadTopic    string `env:"TRUECOST_DEAD_TOPIC, default=truecost-dead"`       // messages that were given up

	PassScore  int           `env:"PIPELINE_PASSING_SCORE, default=80"` // 0–100
	MaxRetries int           `env:"PIPELINE_MAX_RETRIES, default=2"`    // quality retries after the first attempt
	AgentTime  time.Duration `env:"TRUECOST_AGENT_TIMEOUT, default=300s"`
	RunTime    time.Duration `env:"TRUECOST_RUN_TIMEOUT, default=60m"`
	RetryPause time.Duration `env:"TRUECOST_RETRY_PAUSE, default=30s"` // first pause after a failed call; doubles
	Lease      time.Duration `env:"TRUECOST_STEP_LEASE, default=90s"`  // of a step whose worker is silent
	TaskLease  time.Duration `env:"TRUECOST_TASK_LEASE, default=30s"`  // of an agent's task whose worker is silent
	Overdue    time.Duration `env:"TRUECOST_OVERDUE, default=60s"`     // how old an open step is when the sweeper looks after it

	RunsAtOnce      int `env:"TRUECOST_RUNS_AT_ONCE, default=5"`       // of one user; 0 is no limit
	StartsPerMinute int `env:"TRUECOST_STARTS_PER_MINUTE, default=20"` // by one user; 0 is no limit

	// LocalAuth accepts unsigned tokens and anonymous callers. It is set by the
	// local system and refused beside a real project.
	LocalAuth bool `env:"TRUECOST_LOCAL_AUTH, default=false"`
}

// Load reads the configuration through lookup and validates it. The error names
// every variable that is wrong, its value and what was wanted.
func Load(ctx context.Context, lookup envconfig.Lookuper) (Config, error) {
	var c Config
	if err := envconfig.ProcessWith(ctx, &envconfig.Config{Target: &c, Lookuper: lookup}); err != nil {
		return c, fmt.Errorf("read configuration: %w", err)
	}
	if c.AgentsURL == "" {
		c.AgentsURL = fmt.Sprintf("https://%s-%s.cloudfunctions.net", c.Region, c.Project)
	}
	return c, c.Validate()
}

// Validate returns every fault of the configuration, joined.
func (c Config) Validate() error {
	var errs []error
	bad := func(name string, value any, wanted string) {
		errs = append(errs, fmt.Errorf("%s: %v is not %s", name, value, wanted))
	}
	if u, err := url.Parse(c.AgentsURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		bad("A2A_BASE_URL", c.AgentsURL, "an http or https address")
	}
	_, keyErr := c.cardKey()
	_, callersErr := c.callers()
	errs = append(errs, keyErr, callersErr, c.checkOutside())
	if c.PassScore < 0 || c.PassScore > 100 {
		bad("PIPELINE_PASSING_SCORE", c.PassScore, "a score from 0 to 100")
	}
	if c.MaxRetries < 0 || c.MaxRetries > 10 {
		bad("PIPELINE_MAX_RETRIES", c.MaxRetries, "a number from 0 to 10")
	}
	for _, v := range []struct {
		name  string
		limit int
	}{
		{"TRUECOST_RUNS_AT_ONCE", c.RunsAtOnce},
		{"TRUECOST_STARTS_PER_MINUTE", c.StartsPerMinute},
	} {
		if v.limit < 0 {
			bad(v.name, v.limit, "a number of 0 or more")
		}
	}
	for _, v := range []struct {
		name string
		time.Duration
	}{
		{"TRUECOST_AGENT_TIMEOUT", c.AgentTime},
		{"TRUECOST_RUN_TIMEOUT", c.RunTime},
		{"TRUECOST_RETRY_PAUSE", c.RetryPause},
		{"TRUECOST_STEP_LEASE", c.Lease},
		{"TRUECOST_TASK_LEASE", c.TaskLease},
		{"TRUECOST_OVERDUE", c.Overdue},
	} {
		if v.Duration <= 0 {
			bad(v.name, v.Duration, "a positive duration")
		}
	}
	if c.LocalAuth && c.FirestoreHost == "" {
		bad("TRUECOST_LOCAL_AUTH", c.LocalAuth, "allowed without FIRESTORE_EMULATOR_HOST: unsigned tokens are for the local system alone")
	}
	return errors.Join(errs...)
}

// cardKey returns what signs the cards, nil if they are not signed.
func (c Config) cardKey() (*card.Key, error) {
	if c.CardKey == "" {
		return nil, nil
	}
	key, err := card.ParseKey([]byte(c.CardKey))
	if err != nil {
		return nil, fmt.Errorf("TRUECOST_CARD_KEY: %w", err)
	}
	return key, nil
}
