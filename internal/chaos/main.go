// Command chaos proves that runs survive crashes, on real processes: a store, two
// engines and the agents of the estimate flow, of which one or another is killed
// all the time.
//
//	go run ./internal/chaos                        200 runs, kills alone
//	go run ./internal/chaos -double                every message comes twice, late and in any order
//	go run ./internal/chaos -stop                  engines are suspended beyond their leases and come back
//	go run ./internal/chaos -runs 20 -seed 7
//
//	people ──▶ store process ──push, round robin──▶ engine 1 ┐
//	             │ Firestore, Pub/Sub, schedule     engine 2 ┴──A2A──▶ agents ──▶ ledger
//	             └── -data
//
// An engine is killed every 200–800 ms, the agents and the store now and then.
// What agents answer follows from the id of the call (package script), so how
// each run must end is known beforehand: which steps it has, with which scores,
// and whether it completes. People hold runs, cancel them and try them again.
//
// What must hold, by the names under which a breach is printed:
//
//	end      the run ended as foretold, with these steps and none other
//	ledger   no call was paid twice without a death of the agents in between
//	I1, I6   a result is of the step's own call; claims are take-overs or failed tries
//	I2       nothing of a run is written after its end, late results apart
//	I3, I11  what is seen again and again never goes back; in the end the view is the run
//	I4       open is what the engine derives from the state, at every look
//	I5, I7   nothing is called before its time or once too often
//	I8, I9   failures of transport leave scores and attempts alone; no pass without a score
//	I10      every run ends
//	I12      state, view and output of an event stand together; each rev has one cause
//	I17      documents stay small
//	I18      the engine, run over what is recorded, comes to what is stored
//	I20      nothing begins after a cancel but in handlers that had read the run before
//	I21      outputs stay, and what is carried over is not called
//	start, answer, process, log: nothing that was answered is lost, no function fails
//	         inside, no process ends by itself, no engine reports a defect
//
// Message doubling and worker count (I13, I14) are the modes themselves; I15, I19
// need other flows, I16 and I22 a world without faults.
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
	runs       int
	seed       uint64
	double     bool
	stop       bool
	killAgents bool
	killStore  bool
	window     int           // runs at once
	time       time.Duration // after which the killing stops
	patience   time.Duration // for runs to end after that
	dir        string        // "": one of the system's, removed when all is well
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	os.Exit(code)
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := config{}
	fs := flag.NewFlagSet("chaos", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&c.runs, "runs", 200, "runs of at least twelve steps; to them come canceled ones")
	fs.Uint64Var(&c.seed, "seed", uint64(time.Now().UnixNano())%1_000_000, "of what is drawn")
	fs.BoolVar(&c.double, "double", false, "deliver every message twice, with delays")
	fs.BoolVar(&c.stop, "stop", false, "suspend engines and let them go on")
	fs.BoolVar(&c.killAgents, "agents", true, "kill the agents now and then")
	fs.BoolVar(&c.killStore, "store", true, "kill the store now and then")
	fs.IntVar(&c.window, "window", 32, "runs at once")
	fs.DurationVar(&c.time, "time", 20*time.Minute, "after which the killing stops, ended or not")
	fs.DurationVar(&c.patience, "patience", 2*time.Minute, "for runs to end after that")
	fs.StringVar(&c.dir, "dir", "", "`directory` for data, logs and the ledger, which are then kept")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil || fs.NArg() > 0 || c.runs < 1 || c.window < 1 {
		fs.Usage()
		return 2
	}
	r, err := chaos(ctx, c)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "chaos:", err)
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
	input, err := os.ReadFile(filepath.Join(root(), "testdata", "kitchen.json"))
	if err != nil {
		return r, err
	}
	dir := c.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "truecost-chaos"); err != nil {
			return r, err
		}
	} else if dir, err = filepath.Abs(dir); err != nil {
		return r, err
	}
	w, err := newWorld(ctx, c, dir)
	if err != nil {
		return r, fmt.Errorf("start, see %s: %w", dir, err)
	}
	r = w.live(ctx, input)
	if err := w.close(); err != nil {
		r.findings = append(r.findings, err.Error())
	}
	if c.dir == "" && len(r.findings) == 0 {
		r.dir = ""
		return r, os.RemoveAll(dir)
	}
	return r, ctx.Err()
}

// root is the folder of the module's files, from there or from this package.
func root() string {
	if _, err := os.Stat("go.mod"); err == nil {
		return "."
	}
	return filepath.Join("..", "..")
}
