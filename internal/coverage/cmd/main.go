// Command coverage prints how many of the true costs of synthetic jobs lie
// within the published ranges, and fails when P10 to P90 does not hold 75 to 85
// percent of them.
package main

import (
	"flag"
	"fmt"
	"os"

	"truecost.dev/internal/coverage"
)

func main() {
	seed := flag.Uint64("seed", 1, "another seed is other jobs and other worlds")
	jobs := flag.Int("jobs", 10, "jobs of each project type")
	truths := flag.Int("truths", 50, "worlds of each job")
	flag.Parse()
	counts, err := coverage.Run(*seed, *jobs, *truths)
	if err == nil {
		err = coverage.Print(os.Stdout, counts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
	if all := &counts[0]; !all.Holds() {
		fmt.Fprintf(os.Stderr, "coverage: P10 to P90 holds %.1f %% of the truths, not %.0f to %.0f\n", 100*all.Share(), 100*coverage.Least, 100*coverage.Most)
		os.Exit(1)
	}
}
