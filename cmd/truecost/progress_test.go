package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The lines of a run do not depend on which versions of the document a listener
// happened to see, as long as it saw the last.
func TestLinesDoNotDependOnWhatWasSeen(t *testing.T) {
	t.Parallel()
	for name, story := range stories {
		if name == "slow" {
			continue // it does not end
		}
		want := lines(t, story())
		rapid.Check(t, func(t *rapid.T) {
			var seen []map[string]any
			all := story()
			for n, v := range all {
				if n == len(all)-1 || rapid.Bool().Draw(t, "seen") {
					seen = append(seen, v)
				}
				if rapid.Bool().Draw(t, "twice") && len(seen) > 0 && n < len(all)-1 {
					seen = append(seen, seen[len(seen)-1])
				}
			}
			if got := lines(t, seen); got != want {
				t.Fatalf("%s: %d versions print\n%swant\n%s", name, len(seen), got, want)
			}
		})
	}
}

func lines(tb rapid.TB, versions []map[string]any) string {
	tb.Helper()
	var out bytes.Buffer
	p := newProgress(&out, func(string) string { return "" }, "e")
	for _, v := range versions {
		d, err := decodeDocument("e", v)
		if err != nil {
			tb.Fatal(err)
		}
		p.update(d)
	}
	p.end()
	return out.String()
}

// An output that Firestore could not hold as a map is what it means.
func TestEncodedOutputs(t *testing.T) {
	t.Parallel()
	d, err := decodeDocument("e", map[string]any{
		"status": "complete", "locationOutput": `{"locationFactor":1.5,"deep":[[1]]}`, "locationOutputEncoding": "json",
	})
	if err != nil || d.Location == nil || d.Location.Factor != 1.5 {
		t.Fatalf("decodeDocument = %+v, %v, want the factor 1.5", d, err)
	}
	got, err := json.Marshal(d.fields)
	if want := `{"locationOutput":{"locationFactor":1.5,"deep":[[1]]},"status":"complete"}`; err != nil || string(got) != want {
		t.Errorf("fields = %s, %v, want %s", got, err, want)
	}
}

// The bar says what goes on, and leaves no trace.
func TestBar(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newProgress(&out, func(string) string { return "" }, "e")
	p.bar = true
	d, err := decodeDocument("e", stage(3, map[string]int{"risk": 70, "risk_attempt_0": 70}, map[string]int{"risk": 1}))
	if err != nil {
		t.Fatal(err)
	}
	p.update(d)
	const bar = "████████████░░░░░░░░░░░░  50%  risk  retry 1  last score 70"
	if got := out.String(); !strings.HasSuffix(got, "\n"+bar) {
		t.Errorf("update printed\n%s\nwant %s on the last line", got, bar)
	}
	p.end()
	if got := out.String(); !strings.HasSuffix(got, bar+"\r\x1b[K") {
		t.Errorf("end left %q", got[len(got)-20:])
	}
}
