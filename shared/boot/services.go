package boot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"cloud.google.com/go/firestore"
	"cloud.google.com/go/pubsub/v2"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/callable"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/gcp/idtoken"
	"truecost.dev/shared/gcp/topic"
	"truecost.dev/shared/host"
	"truecost.dev/shared/identity"
	"truecost.dev/shared/research"
	"truecost.dev/shared/runner"
)

// Services are the ports of one process.
type Services struct {
	Config Config
	Log    *slog.Logger

	firestore func() (*firestore.Client, error)
	pubsub    func() (*pubsub.Client, error)
	runner    func() (*runner.Runner, error)
	callers   func() (*identity.Authority, error)
	research  func() (research.Desk, error)
	tasks     func() (*docstore.Tasks, error)
	work      func() (*topic.Work, error)

	mu     sync.Mutex // guards opened
	opened []func() error
}

// New returns services that open nothing yet.
func New(c Config, log *slog.Logger) *Services {
	s := &Services{Config: c, Log: log}
	s.firestore = sync.OnceValues(func() (*firestore.Client, error) {
		client, err := openFirestore(context.Background(), c)
		return client, s.keep(err, func() error { return client.Close() })
	})
	s.pubsub = sync.OnceValues(func() (*pubsub.Client, error) {
		client, err := openPubSub(context.Background(), c)
		return client, s.keep(err, func() error { return client.Close() })
	})
	s.runner = sync.OnceValues(s.newRunner)
	s.callers = sync.OnceValues(c.callers)
	s.research = sync.OnceValues(s.newResearch)
	s.tasks = sync.OnceValues(func() (*docstore.Tasks, error) {
		client, err := s.firestore()
		if err != nil {
			return nil, err
		}
		return docstore.NewTasks(client), nil
	})
	s.work = sync.OnceValues(func() (*topic.Work, error) {
		client, err := s.pubsub()
		if err != nil {
			return nil, err
		}
		return topic.NewWork(client, c.WorkTopic), nil
	})
	return s
}

func (s *Services) keep(err error, stop func() error) error {
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opened = append(s.opened, stop)
	}
	return err
}

// Close closes what was opened.
func (s *Services) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, stop := range s.opened {
		errs = append(errs, stop())
	}
	s.opened = nil
	return errors.Join(errs...)
}

// Runner returns the loop round the engine.
func (s *Services) Runner() (*runner.Runner, error) { return s.runner() }

// Callers returns what tells the callers of agents.
func (s *Services) Callers() (*identity.Authority, error) { return s.callers() }

// Estimates returns the store of estimates and runs.
func (s *Services) Estimates() (*docstore.Store, error) {
	client, err := s.firestore()
	if err != nil {
		return nil, err
	}
	return docstore.New(client), nil
}

// Tasks returns the store of agents' tasks.
func (s *Services) Tasks() (*docstore.Tasks, error) { return s.tasks() }

// Work returns the queue of agents' tasks.
func (s *Services) Work() (*topic.Work, error) { return s.work() }

// Env returns what entry points share.
func (s *Services) Env() host.Env {
	verify := callable.Options{Log: s.Log}
	if s.Config.LocalAuth {
		verify.Verify, verify.AllowAnonymous = callable.UnsignedVerifier, true
	}
	return host.Env{
		Log: s.Log, Now: now, AgentURL: s.Config.AgentsURL, Cards: s.cards, Callers: s.Callers,
		Tasks:  func() (task.Store, error) { return s.Tasks() },
		Finder: func() (task.Finder, error) { return s.Tasks() },
		Queue:  func() (task.Queue, error) { return s.Work() },

		AgentTime: s.Config.AgentTime, TaskLease: s.Config.TaskLease, Webhooks: s.webhooks(), Callable: verify,
	}
}

// cards returns what the cards of all agents say alike.
func (s *Services) cards() (card.Options, error) {
	key, err := s.Config.cardKey()
	return card.Options{Key: key, Auth: s.Config.cardAuth()}, err
}

func (s *Services) newRunner() (*runner.Runner, error) {
	client, err := s.firestore()
	if err != nil {
		return nil, err
	}
	bus, err := s.pubsub()
	if err != nil {
		return nil, err
	}
	c := s.Config
	pipeline, err := c.Estimate()
	if err != nil {
		return nil, err
	}
	pace := runner.DefaultPace()
	pace.Lease, pace.Beat = c.Lease, c.Lease/3
	store := docstore.New(client)
	return &runner.Runner{
		Store: store, Find: store, Bus: topic.New(bus, c.StepsTopic, c.ControlTopic),
		Limits:    runner.Limits{InFlight: c.RunsAtOnce, PerMinute: c.StartsPerMinute},
		Caller:    &a2a.Client{HTTP: agentClient(c), BaseURL: c.AgentsURL},
		Pipelines: []runner.Pipeline{pipeline}, Pace: pace, Log: s.Log,
		Now: now, Sleep: sleep, Owner: rand.Text,
	}, nil
}

// agentClient follows the deadline of each call and keeps enough connections
// for a busy instance. In the cloud it says who calls.
func agentClient(c Config) *http.Client {
	var transport http.RoundTripper = &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
	}
	if !c.LocalAuth && c.FirestoreHost == "" {
		transport = idtoken.Transport(transport, c.AgentsURL)
	}
	// A call's own deadline is shorter; this bounds one that lost its context.
	return &http.Client{Transport: transport, Timeout: 10 * time.Minute}
}

// now is in UTC and in Firestore's precision, so that what is read back equals
// what was written.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
}
