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

// An output that was too large for the document is elsewhere: nothing of it is
// shown, least of all zeros.
func TestTruncatedOutputs(t *testing.T) {
	t.Parallel()
	d, err := decodeDocument("e", map[string]any{
		"status": "complete", "totalCost": 71234.5, "p50": 65000.0, "p80": 71234.5, "p90": 75000.25,
		"costOutput":  map[string]any{"document": "agentOutputs/cost", "truncated": true},
		"finalOutput": map[string]any{"document": "agentOutputs/final", "truncated": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.writeResult(&out); err != nil {
		t.Fatal(err)
	}
	const want = "\ne\n  Total             $71,234.50\n  P50 / P80 / P90   $65,000.00 / $71,234.50 / $75,000.25\n"
	if got := out.String(); got != want {
		t.Errorf("writeResult =\n%s\nwant\n%s", got, want)
	}
	if d.fields["costOutput"] == nil {
		t.Error("the reference is gone from the fields")
	}
}

// Text of users is printed, never obeyed.
func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Küche 漢字 💥":                "Küche 漢字 💥",
		"\x1b[31mred\x1b[0m":        "\ufffd[31mred\ufffd[0m",
		"two\nlines\tand\ra return": "two lines and a return",
		"bell\a, \u202eback, \xff":  "bell\ufffd, \ufffdback, \ufffd",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
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
	const bar = "\x1b[?7l████████████░░░░░░░░░░░░  50%  risk  retry 1  last score 70\x1b[?7h"
	if got := out.String(); !strings.HasSuffix(got, "\n"+bar) {
		t.Errorf("update printed\n%s\nwant %s on the last line", got, bar)
	}
	p.end()
	if got := out.String(); !strings.HasSuffix(got, bar+"\r\x1b[K") {
		t.Errorf("end left %q", got[len(got)-20:])
	}
}

// What a run waits for a person to do is printed once, with the way out.
func TestPeople(t *testing.T) {
	t.Parallel()
	const want = `e started
location  asks: Which\uFFFD[31m county?
          answer with: truecost answer e location.0.pause FILE, or -give-up
scope     asks: Accept what there is, or give up?
          answer with: truecost answer e scope.2.ask -accept, or -give-up
e held by anna: lunch; go on with: truecost resume e
e goes on
location  attempt 1  score  90  done
scope     attempt 1  score  91  done
scope     40 of 40 chunks
cost      attempt 1  score  60  tried again
`
	versions := asking()
	got := lines(t, append(versions[:1], versions...))
	if wanted := strings.ReplaceAll(want, `\uFFFD`, "\ufffd"); !strings.HasPrefix(got, wanted) {
		t.Errorf("a run that asks prints\n%swant first\n%s", got, wanted)
	}
}

// Behind the bar stands what people wait for, or what they are waited for.
func TestNow(t *testing.T) {
	t.Parallel()
	tests := []struct{ pipeline, want string }{
		{`{}`, ""},
		{`{"currentAgent":"cost"}`, "  cost"},
		{`{"currentAgent":"cost","fanOut":{"cost":{"done":7,"of":40},"scope":{"done":1,"of":1}}}`, "  cost  7 of 40 chunks"},
		{`{"currentAgent":null,"questions":[{"inputId":"i"}]}`, "  waits for an answer"},
		{`{"currentAgent":"risk","questions":[{"inputId":"i"}]}`, "  risk"},
		{`{"currentAgent":"risk","hold":{"by":"anna"}}`, "  held"},
	}
	for _, tt := range tests {
		var p pipeline
		if err := json.Unmarshal([]byte(tt.pipeline), &p); err != nil {
			t.Fatal(err)
		}
		if got := p.now(); got != tt.want {
			t.Errorf("now(%s) = %q, want %q", tt.pipeline, got, tt.want)
		}
	}
}
