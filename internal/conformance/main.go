package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// config is what flags say.
type config struct {
	addr   string // where to listen
	mount  string // where the card says that the agent is
	union  bool   // the card of all versions
	noPush bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage")

func run(ctx context.Context, args []string, out, errOut io.Writer) error {
	var c config
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.StringVar(&c.addr, "addr", "127.0.0.1:9990", "`address` to listen on, of this machine")
	flags.StringVar(&c.mount, "mount", "/", "`path` at which the card says that JSON-RPC and HTTP+JSON are; the root answers too")
	flags.BoolVar(&c.union, "union", false, "serve the card of all versions instead of that of A2A 1.0")
	flags.BoolVar(&c.noPush, "no-push", false, "take no push configurations")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return flag.ErrHelp
	} else if err != nil {
		return errUsage
	}
	if flags.NArg() > 0 || !strings.HasPrefix(c.mount, "/") {
		_, _ = fmt.Fprintln(errOut, "conformance: wanted no arguments, and a mount that begins with /")
		flags.Usage()
		return errUsage
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s, err := newSystem(ctx, l.Addr().String(), c, slog.New(slog.NewTextHandler(errOut, nil)))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if _, err := fmt.Fprintln(out, "conformance agent at", s.base); err != nil {
		return errors.Join(fmt.Errorf("say where the agent is: %w", err), l.Close(), s.close())
	}
	return errors.Join(s.serve(ctx, l), s.close())
}

// serve answers until ctx ends, then lets the calls at work end.
func (s *system) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s.handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return errors.Join(server.Close()) // streams of tasks that wait have no end
	}
	return nil
}
