// Package sample takes the real inputs of testdata through the stages of an
// estimate, for tests that begin where an earlier agent left off.
package sample

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/estimate/locality"
	"truecost.dev/shared/estimate/montecarlo"
	"truecost.dev/shared/estimate/pricing"
	"truecost.dev/shared/estimate/schedule"
	"truecost.dev/shared/estimate/takeoff"
)

// Names of the real inputs.
func Names() []string { return []string{"kitchen", "bathroom", "deck", "addition"} }

// A Change is made to the clarified scope before anything is computed from it.
type Change func(*estimate.Clarification)

// Clarified returns the context of the first agent.
func Clarified(tb testing.TB, name string, changes ...Change) estimate.Context {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(root(tb), "testdata", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	c, report := intake.Parse(raw)
	if err := report.Err(); err != nil {
		tb.Fatal(err)
	}
	for _, change := range changes {
		change(&c)
	}
	return estimate.Context{EstimateID: c.EstimateID, Now: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), Clarification: &c}
}

// Scoped adds location and scope: what the cost agent knows.
func Scoped(tb testing.TB, name string, changes ...Change) estimate.Context {
	tb.Helper()
	ctx := Clarified(tb, name, changes...)
	place := locality.Locate(ctx.Clarification.Brief.Location, takeoff.ProjectType(ctx.Clarification).PermitClass, locality.Auto)
	scope := takeoff.Take(ctx.Clarification, nil)
	ctx.Location, ctx.Scope = &place, &scope
	return ctx
}

// Priced adds the cost: what the risk agent knows.
func Priced(tb testing.TB, name string, changes ...Change) estimate.Context {
	tb.Helper()
	ctx := Scoped(tb, name, changes...)
	cost, err := pricing.Price(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	ctx.Cost = &cost
	return ctx
}

// Simulated adds the risk: what the timeline agent knows.
func Simulated(tb testing.TB, name string, changes ...Change) estimate.Context {
	tb.Helper()
	ctx := Priced(tb, name, changes...)
	risk, err := montecarlo.Simulate(ctx, intake.Stream(ctx.Clarification, "risk"), montecarlo.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	ctx.Risk = &risk
	return ctx
}

// Planned adds the timeline: what the final agent knows.
func Planned(tb testing.TB, name string, changes ...Change) estimate.Context {
	tb.Helper()
	ctx := Simulated(tb, name, changes...)
	plan, err := schedule.Plan(ctx, intake.Stream(ctx.Clarification, "timeline"))
	if err != nil {
		tb.Fatal(err)
	}
	ctx.Timeline = &plan
	return ctx
}

// root is the folder of go.mod, above the package under test.
func root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("no go.mod above the test")
		}
		dir = up
	}
}
