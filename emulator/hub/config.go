package hub

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"truecost.dev/emulator/pubsub"
	"truecost.dev/shared/host"
)

// Names of the services, as /healthz, flags and errors have them.
const (
	Functions = "functions"
	Firestore = "firestore"
	PubSub    = "pubsub"
	Hosting   = "hosting"
	Inspector = "inspector"
)

// Ports of the services. 0 is any free port.
type Ports struct {
	Functions, Firestore, PubSub, Hosting, Inspector int
}

// DefaultPorts returns the ports of the Firebase emulator suite.
func DefaultPorts() Ports {
	return Ports{Functions: 5001, Firestore: 8080, PubSub: 8085, Hosting: 5000, Inspector: 4000}
}

// AddFlags defines -functions-port and its like, with the present values as
// defaults.
func (p *Ports) AddFlags(fs *flag.FlagSet) {
	for _, s := range p.all() {
		fs.IntVar(s.port, s.service+"-port", *s.port, "`port` of "+s.service+"; 0 is any free one")
	}
}

type servicePort struct {
	service string
	port    *int
}

func (p *Ports) all() []servicePort {
	return []servicePort{
		{Functions, &p.Functions}, {Firestore, &p.Firestore}, {PubSub, &p.PubSub}, {Hosting, &p.Hosting}, {Inspector, &p.Inspector},
	}
}

// Config is what a hub is made from. Project, Region and Functions are required.
type Config struct {
	Project, Region string
	Ports           Ports
	PortOffset      int // added to every port that is not 0

	// Addresses (host:port) of servers that run already; "" embeds one.
	FirestoreHost, PubSubHost string

	// Data is a directory that keeps what the embedded servers hold, so that it
	// outlives the process; "" keeps it in memory.
	Data string

	// Forward are the base addresses (http://host:port) of other processes that
	// serve the functions at /{name}. With them the hub hosts none itself: what
	// reaches the functions port, pushes included, goes to the next of them in
	// turn. One that does not answer is a failure (502) of that request, and so a
	// push that comes again after its backoff, at the next address.
	Forward []string

	Push      host.Push     // where set, how messages reach all functions, whatever they say
	Faults    pubsub.Faults // of the embedded Pub/Sub server
	Schedules []Schedule
	Tick      time.Duration // where set, how often all schedules publish, whatever they say

	// Functions returns the table to host, once the addresses are known.
	Functions func(Addresses) ([]host.Function, error)

	Log *slog.Logger // nil discards
}

// segment is what may stand in one segment of an address.
var segment = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]*$`)

// Check returns what is wrong with the configuration, by flag.
func (c Config) Check() error {
	var errs []error
	if !segment.MatchString(c.Project) {
		errs = append(errs, fmt.Errorf("-project %q is not a project id", c.Project))
	}
	if !segment.MatchString(c.Region) {
		errs = append(errs, fmt.Errorf("-region %q is not a region", c.Region))
	}
	errs = append(errs, c.checkPorts())
	for _, f := range c.Forward {
		if u, err := url.Parse(f); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			errs = append(errs, fmt.Errorf("-functions %q is not an address as http://127.0.0.1:7001", f))
		}
	}
	if low, high := c.Push.Backoff[0], c.Push.Backoff[1]; low < 0 || high < 0 || high > 0 && low > high {
		errs = append(errs, fmt.Errorf("-min-backoff %v and -max-backoff %v are no range", low, high))
	}
	if c.Tick < 0 {
		errs = append(errs, fmt.Errorf("-sweep %v is no pause", c.Tick))
	}
	if c.Faults.Copies < 0 || c.Faults.Delay < 0 {
		errs = append(errs, fmt.Errorf("-pubsub-copies %d and -pubsub-delay %v are not 0 or more", c.Faults.Copies, c.Faults.Delay))
	}
	return errors.Join(errs...)
}

func (c Config) checkPorts() error {
	var errs []error
	for _, s := range c.Ports.all() {
		if *s.port < 0 || *s.port > 65535 {
			errs = append(errs, fmt.Errorf("-%s-port %d is not a port", s.service, *s.port))
		} else if p := c.moved(*s.port); *s.port > 0 && p < 1 || p > 65535 {
			errs = append(errs, fmt.Errorf("-port-offset %d moves %s to port %d", c.PortOffset, s.service, p))
		}
	}
	return errors.Join(errs...)
}

// moved adds the offset to a port.
func (c Config) moved(port int) int {
	if port == 0 {
		return 0
	}
	return port + c.PortOffset
}

// production is how messages reach a function that says nothing about it.
var production = host.Push{
	Ack:        600 * time.Second,
	Backoff:    [2]time.Duration{10 * time.Second, 600 * time.Second},
	Deliveries: 20,
	DeadLetter: DeadTopic,
}

// pushOf returns how messages reach a function: as the hub's configuration says,
// as the function says itself, or as in production.
func (c Config) pushOf(f host.Function) host.Push {
	return host.Push{
		Ack: cmp.Or(c.Push.Ack, f.Push.Ack, production.Ack),
		Backoff: [2]time.Duration{
			cmp.Or(c.Push.Backoff[0], f.Push.Backoff[0], production.Backoff[0]),
			cmp.Or(c.Push.Backoff[1], f.Push.Backoff[1], production.Backoff[1]),
		},
		Deliveries: cmp.Or(c.Push.Deliveries, f.Push.Deliveries, production.Deliveries),
		DeadLetter: cmp.Or(c.Push.DeadLetter, f.Push.DeadLetter, production.DeadLetter),
	}
}

// A Schedule publishes a tick to a topic, as a scheduler in the cloud does.
type Schedule struct {
	Topic string // id
	Every time.Duration
}

// Addresses are where the services answer, as host:port.
type Addresses struct {
	Project, Region                                  string
	Functions, Firestore, PubSub, Hosting, Inspector string
}

// FunctionsURL is the base address of the functions: /name follows it.
func (a Addresses) FunctionsURL() string {
	return "http://" + a.Functions + "/" + a.Project + "/" + a.Region
}

func (a *Addresses) of(service string) *string {
	switch service {
	case Functions:
		return &a.Functions
	case Firestore:
		return &a.Firestore
	case PubSub:
		return &a.PubSub
	case Hosting:
		return &a.Hosting
	default:
		return &a.Inspector
	}
}

// listen opens the ports of the services that the hub serves itself, on the
// loopback interface. All ports that are taken are reported together.
func (c Config) listen(ctx context.Context) (map[string]net.Listener, error) {
	open := map[string]net.Listener{}
	var errs []error
	for _, s := range c.Ports.all() {
		if c.external(s.service) != "" {
			continue
		}
		port := c.moved(*s.port)
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			errs = append(errs, fmt.Errorf("port %d for %s is in use: choose another with -%s-port, or move all with -port-offset", port, s.service, s.service))
		case err != nil:
			errs = append(errs, fmt.Errorf("listen for %s: %w", s.service, err))
		default:
			open[s.service] = l
		}
	}
	if len(errs) > 0 {
		for _, l := range open {
			_ = l.Close() // nobody has used it
		}
		return nil, errors.Join(errs...)
	}
	return open, nil
}

// external returns the address of a service that somebody else serves.
func (c Config) external(service string) string {
	switch service {
	case Firestore:
		return c.FirestoreHost
	case PubSub:
		return c.PubSubHost
	default:
		return ""
	}
}
