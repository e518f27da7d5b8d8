// Command model searches the states of a tiny world for a way to break the
// engine: see package model.
//
//	go run ./internal/model/cmd                      a million states
//	go run ./internal/model/cmd -bound nightly -limit 10000000
//	go run ./internal/model/cmd -mutant 'no claim'   must find a violation
//	go run ./internal/model/cmd -replay FILE         follows a path, as a violation is printed:
//	                                                 the scenario, what broke, a line per action
//
// It exits with 1 when an invariant broke.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"truecost.dev/internal/model"
)

var broke = regexp.MustCompile(`^I\d+: `)

func main() {
	bound := flag.String("bound", "full", "quick, full or nightly")
	mutant := flag.String("mutant", "", "a handler that is wrong on purpose; 'list' lists them")
	limit := flag.Int("limit", 0, "states after which a search stops; 0: none")
	replay := flag.String("replay", "", "file with a scenario's name and the actions to follow")
	flag.Parse()
	bounds := map[string]model.Bound{"quick": model.Quick, "full": model.Full, "nightly": model.Nightly}
	b, ok := bounds[*bound]
	if !ok || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	switch {
	case *mutant == "list":
		for _, m := range model.Mutants() {
			fmt.Printf("%-34s breaks %s\n", m, strings.Join(m.Breaks(), " or "))
		}
	case *replay != "":
		os.Exit(follow(*replay, b, model.Mutant(*mutant)))
	default:
		os.Exit(search(b, model.Mutant(*mutant), *limit))
	}
}

func search(bound model.Bound, mutant model.Mutant, limit int) int {
	began, states, transitions, code := time.Now(), 0, 0, 0
	model.All(bound, mutant, limit, func(r model.Result) {
		fmt.Println(r)
		states += r.States
		transitions += r.Transitions
		if r.Violation != nil {
			code = 1
		}
	})
	took := time.Since(began)
	fmt.Printf("%-44s %10d states %11d transitions %6.1f s, %.0f states/s\n", "all", states, transitions, took.Seconds(), float64(states)/took.Seconds())
	return code
}

func follow(file string, bound model.Bound, mutant model.Mutant) int {
	text, err := os.ReadFile(file) //nolint:gosec // the path is the caller's own argument
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var path []string
	for _, line := range lines[1:] {
		if line = strings.TrimSpace(line); !broke.MatchString(line) {
			path = append(path, line)
		}
	}
	for _, s := range model.Scenarios() {
		if strings.HasPrefix(lines[0], s.Name) {
			o := model.Options{Faults: s.Faults[bound], Mutant: mutant}
			if strings.Contains(lines[0], "no faults") {
				o.Faults = model.Faults{}
			}
			return show(s, o, path)
		}
	}
	fmt.Fprintf(os.Stderr, "there is no scenario called %q\n", lines[0])
	return 2
}

func show(s model.Scenario, o model.Options, path []string) int {
	trace, broken, err := model.Replay(s, o, path)
	for i, world := range trace {
		if i > 0 {
			fmt.Println("→", path[i-1])
		}
		fmt.Println(world)
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 2
	case broken != "":
		fmt.Println(broken)
		return 1
	}
	return 0
}
