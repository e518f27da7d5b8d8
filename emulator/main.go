// Command emulator is the local system: the functions, Pub/Sub and Firestore in
// one process, on the loopback interface, without Java, Docker or a download.
//
//	go run ./emulator
//	go run ./emulator -port-offset 100
//	go run ./emulator -data .truecost
//	go run ./emulator -functions http://127.0.0.1:7001,http://127.0.0.1:7002
//
// It prints one line per service and runs until it is interrupted; a second
// interrupt ends it at once. FIRESTORE_EMULATOR_HOST and PUBSUB_EMULATOR_HOST
// name servers that take the place of its own.
//
// With -data, documents and undelivered messages are kept in a directory and
// outlive the process, killed or stopped; without it they are in memory.
//
// With -functions the functions run in other processes (bin/functions, which
// serves all of them by path) and this one serves the stores, pushes messages
// to the addresses in turn, and passes on what reaches its functions port. One
// that does not answer costs a delivery, which is made again after the backoff.
// Such a process wants in its environment
//
//	PORT                     where it listens, on the loopback interface
//	GOOGLE_CLOUD_PROJECT     as -project (default truecost)
//	FIRESTORE_EMULATOR_HOST  host:port, as printed here
//	PUBSUB_EMULATOR_HOST     host:port, as printed here
//	A2A_BASE_URL             where the agents are: the functions line printed here,
//	                         or http://127.0.0.1:PORT of the process that serves them
//	TRUECOST_LOCAL_AUTH      true: callers have no signed tokens on a desk
//
// and the pauses, leases and deadlines it is to have (docs of shared/boot), since
// the short ones of the desk are those of this process alone. FUNCTION_TARGET
// must not be set.
//
// -sweep sets the pace of the sweeper. -pubsub-copies and -pubsub-delay are for
// tests: messages come as often, as late and in as odd an order as the service
// reserves the right to.
//
//	0  stopped
//	1  could not start, or work under way had to be cut off
//	2  wrong flags
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/sethvargo/go-envconfig"

	"truecost.dev/emulator/hub"
	"truecost.dev/emulator/local"
)

// Exit codes.
const (
	exitStopped = 0
	exitFailed  = 1
	exitUsage   = 2
)

const (
	startTime = 30 * time.Second // for servers elsewhere that do not answer
	stopTime  = 10 * time.Second // for work under way, as the cloud gives an instance
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitFailed)
	}()
	os.Exit(run(ctx, os.Args[1:], envconfig.OsLookuper(), os.Stdout, os.Stderr))
}

// run runs the local system until ctx ends and returns the exit code.
func run(ctx context.Context, args []string, env envconfig.Lookuper, stdout, stderr io.Writer) int {
	c, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitStopped
	case err != nil:
		return exitUsage
	}
	c.Log = slog.New(slog.NewTextHandler(stderr, nil))
	starting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	system, err := local.Start(starting, c, env)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "emulator:", err)
		return exitFailed
	}
	announce(stdout, system.Hub)
	select {
	case <-ctx.Done():
	case err = <-system.Failed():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := errors.Join(err, system.Stop(stopping)); err != nil {
		_, _ = fmt.Fprintln(stderr, "emulator:", err)
		return exitFailed
	}
	return exitStopped
}

// parse reads the flags; what is wrong with them stands on stderr already.
func parse(args []string, stderr io.Writer) (hub.Config, error) {
	c := hub.Config{Ports: hub.DefaultPorts()}
	fs := flag.NewFlagSet("emulator", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&c.Project, "project", "truecost", "project `id`")
	fs.StringVar(&c.Region, "region", "us-central1", "region in the address of a function")
	fs.IntVar(&c.PortOffset, "port-offset", 0, "`n` is added to every port but 0")
	fs.StringVar(&c.Data, "data", "", "`directory` that keeps documents and messages; made when missing (default: memory)")
	fs.Func("functions", "base `addresses` of other processes that serve the functions, with commas; none are hosted here then", func(list string) error {
		c.Forward = strings.Split(list, ",")
		return nil
	})
	fs.DurationVar(&c.Push.Backoff[0], "min-backoff", 0, "shortest pause before a failed push is made again (default 500ms)")
	fs.DurationVar(&c.Push.Backoff[1], "max-backoff", 0, "longest such pause (default 10s)")
	fs.DurationVar(&c.Tick, "sweep", 0, "how often the sweeper looks for work that nobody does (default 2s)")
	fs.IntVar(&c.Faults.Copies, "pubsub-copies", 0, "for tests: every message is delivered `n` times (default once)")
	fs.DurationVar(&c.Faults.Delay, "pubsub-delay", 0, "for tests: each delivery waits a random part of this, so that messages overtake one another")
	c.Ports.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	err := c.Check()
	if fs.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		fs.Usage()
	}
	return c, err
}

// announce prints one line per service.
func announce(w io.Writer, h *hub.Hub) {
	for _, s := range h.Services() {
		address := s.Address
		switch {
		case s.External:
			address += " (not ours: named by the environment)"
		case s.Name == hub.Functions:
			address = h.Addresses().FunctionsURL()
		case s.Name == hub.Hosting || s.Name == hub.Inspector:
			address = "http://" + address
		}
		_, _ = fmt.Fprintf(w, "%-10s %s\n", s.Name, address)
	}
}
