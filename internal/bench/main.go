// Command bench measures what the README promises and prints it as a table: a
// kitchen from start call to complete, the engine, the simulation of a price
// beside NumPy, a message to an agent beside the SDK's bare server, and the cold
// start and the memory of the deployed binary beside an empty functions-framework
// server.
// Figures are medians of interleaved runs; they are printed, never asserted.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

const rounds = 7

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s %s/%s, %d cores, medians of %d\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), rounds)
	fmt.Fprintln(t, "what\tmeasured\tbeside it\tratio")
	for _, section := range []func(context.Context, *tabwriter.Writer) error{pipeline, engine, simulation, fronts, coldStart} {
		if err := section(ctx, t); err != nil {
			return err
		}
	}
	return t.Flush()
}

// median returns the middle of an odd number of values.
func median[T interface{ ~int64 | ~float64 }](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.0f ms", float64(d.Microseconds())/1000)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
