// Command tasks proves that agents' tasks survive crashes, on real processes: a
// store, and two processes that serve an agent, of which one or the other is
// killed or suspended all the time.
//
//	go run ./internal/chaos/tasks                  a minute of kills
//	go run ./internal/chaos/tasks -stop            processes are suspended beyond their leases and come back
//	go run ./internal/chaos/tasks -time 10s -seed 7
//
//	clients ──five-step, A2A 1.0──▶ walker 1 ┐ desk, front, worker
//	        └──────────────────────▶ walker 2 ┘      │
//	                                   ▲             ▼
//	                   push, round robin│      Firestore, Pub/Sub
//	                                   └──────  store process
//
// Clients submit and listen, stream, or wait for an answer; what is cut off they
// ask for again, at either process, and they send messages more than once. What
// the agent does follows from the message.
//
// What must hold, by the names under which a breach is printed:
//
//	end      every message that was answered has a task, which ends as foretold
//	log      the log of a task has no gap, and one terminal state, its last event
//	frames   every listener has read the same under the same number, and what the log has
//	task     the task is what its events make of it: the chunks of one run, in order
//	once     no run of a turn was begun twice, and none after the end but for a cut one
//	process  no process ends by itself
//
// The exit code is 0 when all of it holds. Otherwise it is 1, what broke is
// printed, and data and logs are kept.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// config is what can be chosen about a world.
type config struct {
	seed     uint64
	clients  int // at once
	stop     bool
	time     time.Duration // for which messages are sent and processes killed
	patience time.Duration // for tasks to end after that
	dir      string        // "": one of the system's, removed when all is well
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	os.Exit(code)
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := config{}
	fs := flag.NewFlagSet("tasks", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Uint64Var(&c.seed, "seed", uint64(time.Now().UnixNano())%1_000_000, "of what is drawn")
	fs.IntVar(&c.clients, "clients", 16, "who send messages at once")
	fs.BoolVar(&c.stop, "stop", false, "suspend processes and let them go on")
	fs.DurationVar(&c.time, "time", time.Minute, "of sending and killing")
	fs.DurationVar(&c.patience, "patience", 3*time.Minute, "for tasks to end after that")
	fs.StringVar(&c.dir, "dir", "", "`directory` for data, logs and ledgers, which are then kept")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil || fs.NArg() > 0 || c.clients < 1 || c.time <= 0 {
		fs.Usage()
		return 2
	}
	r, err := chaos(ctx, c)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "tasks:", err)
		return 1
	}
	r.print(stdout)
	if len(r.findings) > 0 {
		return 1
	}
	return 0
}

// chaos lives through one world and reports on it.
func chaos(ctx context.Context, c config) (r report, err error) {
	dir := c.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "truecost-tasks"); err != nil {
			return r, err
		}
	} else if dir, err = filepath.Abs(dir); err != nil {
		return r, err
	}
	w, err := newWorld(ctx, c, dir)
	if err != nil {
		return r, fmt.Errorf("start, see %s: %w", dir, err)
	}
	r = w.live(ctx)
	if err := w.close(); err != nil {
		r.findings = append(r.findings, err.Error())
	}
	if c.dir == "" && len(r.findings) == 0 {
		r.dir = ""
		return r, os.RemoveAll(dir)
	}
	return r, ctx.Err()
}
