package pubsub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/test/bufconn"

	"truecost.dev/emulator/journal"
)

// Largest gRPC messages: a full publish request, and a response that was filled
// up to maxPulledBytes by one message too many; each with its frame.
const (
	maxRequestFrame  = maxRequest + 1<<20
	maxResponseFrame = maxPulledBytes + maxRequestFrame
)

// minKeepalive is how often a client may ask whether the connection lives.
const minKeepalive = 10 * time.Second

// streamWorkers is how many calls find a goroutine whose stack has grown already.
const streamWorkers = 16

// Options of a Server. The zero value is a server on the machine's clock that
// delivers as well as it can.
type Options struct {
	Clock  *Clock       // nil: the clock of the machine
	Faults Faults       // how badly it delivers
	Log    *slog.Logger // refused pushes, what cannot be kept; nil: nowhere

	// Compact is how many bytes of log a server on disk lets grow before a
	// snapshot takes their place; 0 is 16 MiB.
	Compact int64

	// Transport sends the pushes. Nil is a transport of its own, without proxy.
	Transport http.RoundTripper

	// Fail, if set, is asked before every call with its full method
	// (/google.pubsub.v1.Publisher/Publish); an error is the call's answer.
	Fail func(method string) error
}

// A Message is a published message, as Messages lists it.
type Message struct {
	ID          string
	Topic       string // full resource name
	Data        []byte
	Attributes  map[string]string
	OrderingKey string
	Published   time.Time
	Deliveries  int // over all subscriptions
	Acks        int // over all subscriptions
}

// A Server is one Pub/Sub service with its own state. Its methods are safe for
// concurrent use.
type Server struct {
	broker   *broker
	grpc     *grpc.Server
	local    *bufconn.Listener
	push     http.RoundTripper
	log      *slog.Logger
	serving  sync.WaitGroup // on local
	pushers  sync.WaitGroup // grows under the broker's mutex, until it is halted
	inFlight sync.WaitGroup // pushes without answer; grows by pushers

	pushes context.Context //nolint:containedctx // the life of the server, not of a call: what it pushes ends with it
	abort  context.CancelFunc
}

// New returns a server that answers Dial; Serve makes it listen elsewhere too.
// Its state is in memory.
func New(o Options) *Server { return serve(newBroker(o.Clock, o.Faults), o) }

// Open returns a server that keeps its state in a directory, which it makes when
// it is missing, with the topics, subscriptions and undelivered messages that
// are there. What was answered survives the death of the process at any moment:
// a message that was published is delivered, one whose acknowledgement was
// answered is not delivered again, and deliveries count on. Leases end with the
// process; what was leased is due at once, except that push subscriptions stand
// still until Resume, for their endpoints may have moved.
//
// Open returns an error for a directory that another process uses and for files
// that are not as they were written.
func Open(dir string, o Options) (*Server, error) {
	b := newBroker(o.Clock, o.Faults)
	r := &restorer{broker: b, backlog: map[uint64]*entry{}}
	j, err := journal.Open(dir, journal.Options{Kind: "pubsub", Compact: o.Compact, Report: func(err error) { b.scribe.report(err) }}, r.restore)
	if err != nil {
		return nil, fmt.Errorf("open the messages: %w", err)
	}
	r.finish()
	b.held, b.scribe.journal = true, j
	return serve(b, o), nil
}

func serve(b *broker, o Options) *Server {
	s := &Server{broker: b, local: bufconn.Listen(1 << 20), push: o.Transport, log: o.Log}
	if s.push == nil {
		s.push = &http.Transport{MaxIdleConnsPerHost: maxPushWindow, IdleConnTimeout: time.Minute}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	b.scribe.report = func(err error) {
		s.log.LogAttrs(context.Background(), slog.LevelError, "the messages on disk", slog.Any("error", err))
	}
	s.pushes, s.abort = context.WithCancel(context.Background())
	s.grpc = grpc.NewServer(append(interceptors(o.Fail), grpc.MaxRecvMsgSize(maxRequestFrame), grpc.WaitForHandlers(true),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minKeepalive, PermitWithoutStream: true}))...)
	pubsubpb.RegisterPublisherServer(s.grpc, &publisher{broker: s.broker})
	pubsubpb.RegisterSubscriberServer(s.grpc, &subscriber{server: s, broker: s.broker})
	s.serving.Go(func() { _ = s.grpc.Serve(s.local) }) // ends with Close, and has no other way to end
	return s
}

func interceptors(fail func(string) error) []grpc.ServerOption {
	if fail == nil {
		return nil
	}
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			if err := fail(info.FullMethod); err != nil {
				return nil, err
			}
			return handle(ctx, req)
		}),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
			if err := fail(info.FullMethod); err != nil {
				return err
			}
			return handle(srv, stream)
		}),
	}
}

// Serve answers on l, which it closes, until Close; then it returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.grpc.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) { // closed before it began
		return fmt.Errorf("serve Pub/Sub on %s: %w", l.Addr(), err)
	}
	return nil
}

// Dial returns a connection to the server inside the process, for
// option.WithGRPCConn. It waits until the server answers or ctx ends.
func (s *Server) Dial(ctx context.Context) (*grpc.ClientConn, error) {
	c, err := grpc.NewClient("passthrough:///pubsub", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return s.local.DialContext(ctx) }),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxResponseFrame)))
	if err != nil {
		return nil, fmt.Errorf("dial Pub/Sub: %w", err)
	}
	c.Connect()
	for state := c.GetState(); state != connectivity.Ready; state = c.GetState() {
		if !c.WaitForStateChange(ctx, state) {
			_ = c.Close() // it never worked
			return nil, fmt.Errorf("dial Pub/Sub: %w", context.Cause(ctx))
		}
	}
	return c, nil
}

// Drain ends all delivery and waits for the answers to the pushes under way,
// or for the end of ctx. Publishing goes on until Close.
func (s *Server) Drain(ctx context.Context) error {
	s.broker.halt()
	answered := make(chan struct{})
	go func() { // ends with Close at the latest
		s.pushers.Wait()
		s.inFlight.Wait()
		close(answered)
	}()
	select {
	case <-answered:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the pushes under way: %w", context.Cause(ctx))
	}
}

// Close ends every call and every push under way, and returns when nothing the
// server started is running any more.
func (s *Server) Close() error {
	s.broker.halt()
	s.abort()
	s.pushers.Wait()
	s.inFlight.Wait()
	s.grpc.Stop()
	s.serving.Wait()
	if t, ok := s.push.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
	return s.broker.scribe.journal.Close()
}

// repush starts, stops or replaces the pusher of a subscription after its
// push config changed. The broker's mutex is held.
func (s *Server) repush(sub *subscription) {
	sub.pusher = nil
	sub.changed.fire()
	endpoint := sub.config.PushConfig.GetPushEndpoint()
	if endpoint == "" || s.broker.halted || s.broker.held {
		return
	}
	p := &pusher{
		broker: s.broker, sub: sub, endpoint: endpoint, log: s.log, holder: holder{maxMessages: minPushWindow},
		client: &http.Client{Transport: s.push, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a redirect is a refusal
		}},
	}
	sub.pusher = p
	s.pushers.Go(func() { p.run(s.pushes, &s.inFlight) })
}

// Resume lets the push subscriptions of a server that Open returned push.
func (s *Server) Resume() {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	if !s.broker.held {
		return
	}
	s.broker.held = false
	for _, name := range slices.Sorted(maps.Keys(s.broker.subs)) {
		s.repush(s.broker.subs[name])
	}
}

// Messages lists what was published, the oldest first: the last 20,000
// messages at least, dead-lettered copies included. A server that Open returned
// begins with those that are not acknowledged.
func (s *Server) Messages() []Message {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	list := make([]Message, len(s.broker.log))
	for i, r := range s.broker.log {
		list[i] = Message{
			ID: r.message.MessageId, Topic: r.topic, Data: slices.Clone(r.message.Data),
			Attributes: maps.Clone(r.message.Attributes), OrderingKey: r.message.OrderingKey,
			Published: r.message.PublishTime.AsTime(), Deliveries: r.deliveries, Acks: r.acks,
		}
	}
	return list
}

// Idle returns when nothing is in motion: no push subscription has a message
// that was not delivered, backing off included, and no pulled message is
// unsettled. What waits to be pulled does not count. It returns the error of
// ctx if that ends first.
func (s *Server) Idle(ctx context.Context) error {
	for {
		s.broker.mu.Lock()
		idle, moved := s.broker.idle(), s.broker.moved.wait()
		s.broker.mu.Unlock()
		if idle {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("wait for Pub/Sub to be idle: %w", context.Cause(ctx))
		}
	}
}
