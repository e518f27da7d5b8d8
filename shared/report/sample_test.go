package report_test

import (
	"encoding/json"
	"maps"
	"testing"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/synthesis"
	"truecost.dev/shared/report"
)

// stored returns the document of an estimate as the pipeline leaves it.
func stored(tb testing.TB, ctx estimate.Context) map[string]any {
	tb.Helper()
	final, err := synthesis.Final(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	doc := members(tb, synthesis.Root(ctx, final))
	maps.Copy(doc, members(tb, map[string]any{
		"userId": "anna", "status": "complete",
		"locationOutput": ctx.Location, "scopeOutput": ctx.Scope, "costOutput": ctx.Cost,
		"riskOutput": ctx.Risk, "timelineOutput": ctx.Timeline, "finalOutput": final,
	}))
	return doc
}

func members(tb testing.TB, v any) map[string]any {
	tb.Helper()
	var m map[string]any
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func read(tb testing.TB, doc map[string]any) *report.Document {
	tb.Helper()
	raw, err := json.Marshal(doc)
	if err != nil {
		tb.Fatal(err)
	}
	d, err := report.Read(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// document of one of the samples.
func document(tb testing.TB, name string, changes ...sample.Change) *report.Document {
	tb.Helper()
	return read(tb, stored(tb, sample.Planned(tb, name, changes...)))
}
