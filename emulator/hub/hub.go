package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"truecost.dev/emulator/firestore"
	"truecost.dev/emulator/pubsub"
	"truecost.dev/shared/host"
)

// reachTime is within which a server of somebody else must take a connection.
const reachTime = 5 * time.Second

// A Hub is a local system that runs.
type Hub struct {
	at        Addresses
	services  []Service
	functions []host.Function
	log       *slog.Logger

	firestore *firestore.Server // nil: somebody else's
	pubsub    *pubsub.Server    // nil: somebody else's
	bus       *bus
	web       []*webServer

	serving sync.WaitGroup // the servers
	failed  chan error     // why a server ended by itself; the first is kept
	ticking sync.WaitGroup // the schedules
	silence context.CancelFunc
}

// Start starts a local system and returns when all of it is ready. ctx bounds
// the start alone. On an error nothing is left running.
func Start(ctx context.Context, c Config) (*Hub, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	listeners, err := c.listen(ctx)
	if err != nil {
		return nil, err
	}
	h := &Hub{log: c.Log, failed: make(chan error, 1), silence: func() {}}
	h.at = Addresses{Project: c.Project, Region: c.Region}
	for _, p := range c.Ports.all() {
		s := Service{Name: p.service, Address: c.external(p.service), External: true}
		if l := listeners[p.service]; l != nil {
			s = Service{Name: p.service, Address: l.Addr().String()}
		}
		*h.at.of(s.Name) = s.Address
		h.services = append(h.services, s)
	}
	if err := h.start(ctx, c, listeners); err != nil {
		for _, l := range listeners {
			_ = l.Close() // those that serve are closed by Stop too
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		_ = h.Stop(gone) // the first error says more
		return nil, err
	}
	return h, nil
}

func (h *Hub) start(ctx context.Context, c Config, listeners map[string]net.Listener) error {
	if err := h.reach(ctx); err != nil {
		return err
	}
	if err := h.open(c, listeners); err != nil {
		return err
	}
	conn, err := h.dialPubSub(ctx)
	if err != nil {
		return err
	}
	h.bus = newBus(conn)
	if h.functions, err = c.Functions(h.at); err != nil {
		return fmt.Errorf("build the functions: %w", err)
	}
	if len(c.Forward) > 0 {
		h.functions = forward(h.functions, c.Forward, c.Log)
	}
	h.serveHTTP(Functions, listeners[Functions], mountFunctions(h.at, h.functions))
	h.serveHTTP(Hosting, listeners[Hosting], mountHosting(h.view(), h.functions))
	if err := h.bus.prepare(ctx, h.at, h.functions, c); err != nil {
		return err
	}
	if h.pubsub != nil {
		h.pubsub.Resume() // what was left over is pushed to the addresses of now
	}
	h.schedule(context.WithoutCancel(ctx), c.Schedules, c.Tick)
	h.serveHTTP(Inspector, listeners[Inspector], h.inspector()) // the last: what it answers is true
	return nil
}

// open starts the servers that the hub embeds, in memory or on the data that is
// there.
func (h *Hub) open(c Config, listeners map[string]net.Listener) (err error) {
	if l := listeners[Firestore]; l != nil {
		o := firestore.Options{Log: c.Log}
		if c.Data == "" {
			h.firestore = firestore.New(o)
		} else if h.firestore, err = firestore.Open(filepath.Join(c.Data, Firestore), o); err != nil {
			return err
		}
		h.serve(Firestore, func() error { return h.firestore.Serve(l) })
	}
	if l := listeners[PubSub]; l != nil {
		o := pubsub.Options{Faults: c.Faults, Log: c.Log}
		if c.Data == "" {
			h.pubsub = pubsub.New(o)
		} else if h.pubsub, err = pubsub.Open(filepath.Join(c.Data, PubSub), o); err != nil {
			return err
		}
		h.serve(PubSub, func() error { return h.pubsub.Serve(l) })
	}
	return nil
}

// reach returns which servers of somebody else do not answer. Their clients
// would try again until the patience of a caller ends, and not say who is away.
func (h *Hub) reach(ctx context.Context) error {
	var errs []error
	for _, s := range h.services {
		if !s.External {
			continue
		}
		d := net.Dialer{Timeout: reachTime}
		conn, err := d.DialContext(ctx, "tcp", s.Address)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s, named by the environment, does not answer: %w", s.Name, err))
			continue
		}
		_ = conn.Close()
	}
	return errors.Join(errs...)
}

func (h *Hub) dialPubSub(ctx context.Context) (*grpc.ClientConn, error) {
	if h.pubsub != nil {
		return h.pubsub.Dial(ctx)
	}
	conn, err := grpc.NewClient(h.at.PubSub, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("dial Pub/Sub at %s: %w", h.at.PubSub, err)
	}
	return conn, nil
}

// serve runs a server until it is closed.
func (h *Hub) serve(service string, run func() error) {
	h.serving.Go(func() {
		if err := run(); err != nil && !errors.Is(err, http.ErrServerClosed) {
			select {
			case h.failed <- fmt.Errorf("%s: %w", service, err):
			default: // one is enough to end the hub
			}
		}
	})
}

func (h *Hub) serveHTTP(service string, l net.Listener, handler http.Handler) {
	s := newWebServer(handler, h.log)
	h.web = append(h.web, s)
	h.serve(service, func() error { return s.Serve(l) })
}

// schedule starts the schedules, all of them every so often if that is not 0;
// Stop ends them.
func (h *Hub) schedule(ctx context.Context, schedules []Schedule, every time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	h.silence = cancel
	for _, s := range schedules {
		h.ticking.Go(func() {
			t := time.NewTicker(cmp.Or(every, s.Every))
			defer t.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-t.C:
				}
				if err := h.bus.tick(ctx, h.at.Project, s.Topic); err != nil && ctx.Err() == nil {
					h.log.LogAttrs(ctx, slog.LevelError, "schedule", slog.String("topic", s.Topic), slog.Any("error", err))
				}
			}
		})
	}
}

// Addresses returns where the services answer.
func (h *Hub) Addresses() Addresses { return h.at }

// Services lists the services in the order of their ports' flags.
func (h *Hub) Services() []Service { return slices.Clone(h.services) }

// PubSub returns the embedded Pub/Sub server, nil if somebody else's is used.
func (h *Hub) PubSub() *pubsub.Server { return h.pubsub }

// Firestore returns the embedded Firestore server, nil if somebody else's is
// used.
func (h *Hub) Firestore() *firestore.Server { return h.firestore }

// Failed delivers the error of a server that ended by itself. The hub is then
// of no use and wants Stop.
func (h *Hub) Failed() <-chan error { return h.failed }

// Stop ends the system: no more ticks and pushes, then no more requests, then
// the stores. Work under way may finish until ctx ends; then it is cut off and
// the error says so. Stop returns when nothing is running any more.
func (h *Hub) Stop(ctx context.Context) error {
	var errs []error
	h.silence()
	h.ticking.Wait()
	if h.pubsub != nil {
		errs = append(errs, h.pubsub.Drain(ctx))
	}
	for _, s := range h.web {
		errs = append(errs, s.stop(ctx))
	}
	if h.bus != nil {
		errs = append(errs, h.bus.conn.Close())
	}
	if h.pubsub != nil {
		errs = append(errs, h.pubsub.Close())
	}
	if h.firestore != nil {
		errs = append(errs, h.firestore.Close())
	}
	h.serving.Wait()
	return errors.Join(errs...)
}
