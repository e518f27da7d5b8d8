// Command engine holds the engine to a floor: a handler behind the same kind of
// push subscription that does for each step one transaction, which reads and
// writes one document, and one publish, and nothing else.
//
//	this program                    the stores, a process        the engine, a process
//	  starts runs, 50 in flight ─▶  Firestore and Pub/Sub  ◀──▶  pipeline_step, pipeline_control
//	  answers as every agent   ◀──────────────────────────────── floor
//
// Both sides are measured in turn, several times, in one go: the table has the
// medians, with the least and the most. The agents do nothing and speak A2A over
// HTTP from the leanest server there can be, so that they are not what is
// measured; what the module's own front costs stands in a line of its own.
//
// Timings are printed and never asserted. What must be equal is: writes, reads
// and publishes of a run, and how each run ends. A difference is an error.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// options are the flags.
type options struct {
	rounds   int
	official string // auto, only, off
	short    bool
	only     string // sections, with commas
	profile  string // folder
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) == 3 && os.Args[1] == childRole {
		err = serveChild(ctx, os.Args[2])
	} else {
		err = bench(ctx, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, args []string) error {
	var o options
	fs := flag.NewFlagSet("engine", flag.ExitOnError)
	fs.IntVar(&o.rounds, "rounds", 5, "how `often` floor and engine are measured in turn")
	fs.StringVar(&o.official, "official", "auto", "`whether` to measure on the official emulators: auto (where installed), only, off")
	fs.BoolVar(&o.short, "short", false, "about a minute: three rounds, fewer runs, no official emulators unless only")
	fs.StringVar(&o.only, "only", "", "`sections` to measure, with commas: turn, crowd, counts, conflicts, linear, fan, killed, front, next")
	fs.StringVar(&o.profile, "profile", "", "`folder` for CPU profiles of the engine, the servers (embedded, unless -official is only) and this program at T1, instead of the table; -only floor is those of the floor")
	_ = fs.Parse(args) // exits by itself
	switch o.official {
	case "auto", "only", "off":
	default:
		return fmt.Errorf("-official %q is not auto, only or off", o.official)
	}
	if o.rounds < 1 {
		return fmt.Errorf("-rounds %d is not a number of 1 or more", o.rounds)
	}
	if o.profile != "" {
		return profiled(ctx, o)
	}
	return measure(ctx, o)
}
