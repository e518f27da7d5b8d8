package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"truecost.dev/internal/official"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/boot"
)

// Names of the rigs.
const (
	embeddedRig = "embedded"
	officialRig = "official"
)

func docstoreTasks(s *boot.Services) task.Store {
	tasks, err := s.Tasks()
	if err != nil {
		panic(err) // the client is open already
	}
	return tasks
}

func roleOf(r engineRole) role { return role{Engine: &r} }

// size of a measurement.
type size struct {
	rounds  int
	runs    int // of a round, 50 in flight
	singles int // of a round, one at a time
	paused  int // runs whose agents take a second, all at once
	chunks  int // of the fan-out
}

// fewChunks is as few as fill the fan-out's window with a chunk of each shard.
const fewChunks = 100 * inFlight

func sizeOf(o options) size {
	if o.short {
		return size{rounds: min(o.rounds, 3), runs: 100, singles: 5, paused: 20, chunks: fewChunks}
	}
	return size{rounds: o.rounds, runs: 200, singles: 15, paused: inFlight, chunks: 10_000}
}

func measure(ctx context.Context, o options) error {
	n := sizeOf(o)
	fmt.Printf("%s %s/%s, %d cores, medians of %d (least–most), floor and engine in turn\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), n.rounds)
	missed := 0
	if o.official != "only" {
		began := time.Now()
		t, err := sections(ctx, embeddedRig, n, o.only)
		t.print(os.Stdout, fmt.Sprintf("embedded Firestore and Pub/Sub, %.0f s", time.Since(began).Seconds()))
		if err != nil {
			return fmt.Errorf("on the embedded servers: %w", err)
		}
		missed += t.missed
	}
	switch installed := official.Firestore.Installed() && official.PubSub.Installed(); {
	case o.official == "off", o.official == "auto" && o.short:
	case !installed && o.official == "only":
		return fmt.Errorf("the official emulators are not installed")
	case !installed:
		fmt.Println("\nofficial emulators not installed: skipped")
	default:
		began := time.Now()
		n.chunks = min(n.chunks, fewChunks)
		t, err := sections(ctx, officialRig, n, o.only)
		t.print(os.Stdout, fmt.Sprintf("official emulators, %.0f s", time.Since(began).Seconds()))
		if err != nil {
			return fmt.Errorf("on the official emulators: %w", err)
		}
		missed += t.missed
	}
	if missed > 0 {
		fmt.Printf("\n%d targets missed\n", missed)
	}
	return nil
}

// section is a part of a measurement.
type section struct {
	name     string
	official bool // also on the official emulators: it depends on the stores and needs no counts of theirs
	measure  func(ctx context.Context, r *rig, n size, t *table) error
}

var allSections = []section{
	{"turn", true, inTurn},
	{"crowd", true, crowded},
	{"counts", false, counted},
	{"conflicts", true, conflicting},
	{"linear", false, linear},
	{"fan", true, fanned},
	{"killed", false, killed},
	{"front", false, fronted},
	{"next", false, decided},
}

// sections measures one after the other on one rig. The table has what was
// measured, also with an error.
func sections(ctx context.Context, name string, n size, only string) (t table, err error) {
	r, err := newRig(ctx, name)
	if err != nil {
		return t, err
	}
	defer r.close()
	for _, s := range allSections {
		if name == officialRig && !s.official || only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		if err := s.measure(ctx, r, n, &t); err != nil {
			return t, err
		}
	}
	return t, nil
}
