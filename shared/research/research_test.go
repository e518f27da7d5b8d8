package research

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/fault"
)

// web is a search and the pages it finds.
type web struct {
	hits  []Hit
	pages map[string]Page
	err   error // of the search
	asked Query

	mu      sync.Mutex // guards fetched
	fetched []string
}

func (w *web) Name() string { return "web" }

func (w *web) Search(_ context.Context, q Query) ([]Hit, error) {
	w.asked = q
	return w.hits, w.err
}

var errAway = errors.New("away")

func (w *web) Fetch(_ context.Context, address string) (Page, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fetched = append(w.fetched, address)
	p, ok := w.pages[address]
	if !ok {
		return Page{}, errAway
	}
	return p, nil
}

// claims is an extractor that says what it is told, one draft a try.
type claims struct {
	drafts   []Draft
	rejected [][]Quote // what it was told did not hold, by try
}

func (c *claims) Name() string { return "claims" }

func (c *claims) Extract(_ context.Context, _ Question, _ []Source, rejected []Quote) (Draft, error) {
	c.rejected = append(c.rejected, rejected)
	if len(c.drafts) < len(c.rejected) {
		return Draft{}, errAway
	}
	return c.drafts[len(c.rejected)-1], nil
}

func always(Step, int) bool { return true }

var (
	now      = time.Date(2026, 11, 21, 10, 0, 0, 123, time.FixedZone("", 3600))
	question = Question{Topic: "bid bond", Instruction: "usual amount in percent of the bid price", Results: 3, Now: now}
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	w := &web{
		hits: []Hit{
			{Title: "Bonds\n[1]", URL: "https://a.example/bonds", Snippet: "on bonds"},
			{Title: "again", URL: "https://a.example/bonds"},
			{Title: "no address"},
			{URL: "https://b.example/", Snippet: "A bid bond is five to ten percent of the bid price as a rule."},
			{Title: "Known", URL: "corpus:/known", Text: "The bid bond of a federal job is twenty percent of the bid price."},
			{Title: "One too many", URL: "https://c.example/"},
		},
		pages: map[string]Page{"https://a.example/bonds": {Title: "ignored", Text: bonds}},
	}
	type step struct {
		Step  Step
		Pages int
	}
	var steps []step
	q := question
	q.Since = now.AddDate(0, 0, -30)
	got, err := Desk{w, w, Extractive{}}.Answer(t.Context(), q, func(s Step, n int) bool {
		steps = append(steps, step{s, n})
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	usual := "The penal sum of a bid bond is usually five to ten percent of the bid price."
	rule := "A bid bond is five to ten percent of the bid price as a rule."
	federal := "The bid bond of a federal job is twenty percent of the bid price."
	want := Result{
		Extracted: usual + " [1]\n" + rule + " [2]\n" + federal + " [3]",
		Topic:     "bid bond",
		Summary: []Found{
			{"Bonds", "https://a.example/bonds", "on bonds"}, {"", "https://b.example/", rule}, {"Known", "corpus:/known", ""},
		},
		Citations: []Citation{
			{1, "https://a.example/bonds", "Bonds", usual, at}, {2, "https://b.example/", "", rule, at}, {3, "corpus:/known", "Known", federal, at},
		},
		Grounded: true, Provider: "web", Model: "extractive", RetrievedAt: at,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Answer (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]step{{Searching, 0}, {Reading, 3}, {Extracting, 3}}, steps); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
	if d := cmp.Diff(Query{"bid bond", 3, q.Since}, w.asked); d != "" {
		t.Errorf("query (-want +got):\n%s", d)
	}
	if len(w.fetched) != 2 {
		t.Errorf("fetched %v, want the two without a text", w.fetched)
	}
}

func TestNothingFound(t *testing.T) {
	t.Parallel()
	w := &web{}
	got, err := Desk{w, w, &claims{}}.Answer(t.Context(), question, always)
	if err != nil || got.Grounded || got.Summary == nil || got.Citations == nil || len(got.Summary)+len(got.Citations) > 0 {
		t.Errorf("Answer = %+v, %v; want an empty result", got, err)
	}
	if want := `The search found no page on "bid bond", so there is nothing to extract.`; got.Extracted != want {
		t.Errorf("Answer says %q, want %q", got.Extracted, want)
	}
	w.hits = []Hit{{URL: "https://a.example/", Title: "Plumbing", Text: "Pipes carry water through the house to every fixture."}}
	got, err = Desk{w, w, Extractive{}}.Answer(t.Context(), question, always)
	if want := `Nothing in what was found on "bid bond" says what was asked for.`; err != nil || got.Extracted != want || got.Grounded || len(got.Summary) != 1 {
		t.Errorf("Answer = %+v, %v; want %q", got, err, want)
	}
}

// A draft that claims what no page says gets one more try, and is told why;
// after that it is not grounded, and its false quotes are not passed on.
func TestGroundingLoop(t *testing.T) {
	t.Parallel()
	hit := Hit{URL: "https://a.example/", Title: "A", Text: "one two three four\nfive six"}
	good, folded := Quote{1, "one two three"}, Quote{1, "four   five"}
	bad, elsewhere := Quote{1, "one two four"}, Quote{2, "one two three"}
	five := []Quote{good, folded, good, folded, bad} // 80 of 100
	tests := []struct {
		name     string
		drafts   []Draft
		tries    int
		grounded bool
		cited    int
		answer   string
		rejected []Quote // what the second try is told
	}{
		{"all hold", []Draft{{"x", []Quote{good, folded}}}, 1, true, 2, "x", nil},
		{"80 hold", []Draft{{"x", five}}, 1, true, 4, "x", nil},
		{"mended", []Draft{{"x", []Quote{good, bad}}, {"y", []Quote{good}}}, 2, true, 1, "y", []Quote{bad}},
		{"mended in part", []Draft{{"x", []Quote{bad, elsewhere}}, {"y", []Quote{good, bad}}}, 2, false, 1, "y", []Quote{bad, elsewhere}},
		{"made worse", []Draft{{"x", []Quote{good, bad}}, {"y", []Quote{bad}}}, 2, false, 1, "x", []Quote{bad}},
		{"an answer without a quote", []Draft{{"x", nil}, {"y", nil}}, 2, false, 0, "y", nil},
		{"an empty quote", []Draft{{"x", []Quote{{1, " "}}}, {"y", []Quote{{1, ""}}}}, 2, false, 0, "y", []Quote{{1, " "}}},
		{"no such source", []Draft{{"x", []Quote{{0, "one"}}}, {"y", []Quote{{-1, "one"}}}}, 2, false, 0, "y", []Quote{{0, "one"}}},
	}
	for _, tt := range tests {
		c := &claims{drafts: tt.drafts}
		got, err := Desk{&web{hits: []Hit{hit}}, &web{}, c}.Answer(t.Context(), question, always)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if len(c.rejected) != tt.tries || got.Grounded != tt.grounded || len(got.Citations) != tt.cited || got.Extracted != tt.answer {
			t.Errorf("%s: %d tries, %+v; want %d tries, grounded %v, %d citations, %q", tt.name, len(c.rejected), got, tt.tries, tt.grounded, tt.cited, tt.answer)
		}
		if tt.tries == 2 {
			if d := cmp.Diff(tt.rejected, c.rejected[1]); d != "" {
				t.Errorf("%s: told at the second try (-want +got):\n%s", tt.name, d)
			}
		}
	}
}

func TestAnswerFails(t *testing.T) {
	t.Parallel()
	away := &web{err: fault.New(fault.Unavailable, "away")}
	if _, err := (Desk{away, away, Extractive{}}).Answer(t.Context(), question, always); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a search that is away: %v, want fault.Unavailable", err)
	}
	w := &web{hits: []Hit{{URL: "https://a.example/", Text: "text"}}}
	if _, err := (Desk{w, w, &claims{}}).Answer(t.Context(), question, always); !errors.Is(err, errAway) {
		t.Errorf("an extractor that fails: %v, want its error", err)
	}
	if _, err := (Desk{w, w, &claims{drafts: []Draft{{"x", nil}}}}).Answer(t.Context(), question, always); !errors.Is(err, errAway) {
		t.Errorf("an extractor that fails again: %v, want its error", err)
	}
}

// A canceled task ends at the next step, with the cause that it was given.
func TestAnswerStops(t *testing.T) {
	t.Parallel()
	for _, at := range []Step{Searching, Reading, Extracting} {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := &web{hits: []Hit{{URL: "https://a.example/"}}}
		_, err := Desk{w, w, Extractive{}}.Answer(ctx, question, func(s Step, _ int) bool {
			if s == at {
				cancel(fault.New(fault.Canceled, "the task was canceled"))
			}
			return ctx.Err() == nil
		})
		if fault.KindOf(err) != fault.Canceled {
			t.Errorf("canceled at step %d: %v, want fault.Canceled", at, err)
		}
	}
	// While pages are read, the reader learns of it.
	ctx, cancel := context.WithCancelCause(t.Context())
	w := &web{hits: []Hit{{URL: "https://a.example/"}}}
	f := fetch(func(ctx context.Context, _ string) (Page, error) {
		cancel(fault.New(fault.Canceled, "the task was canceled"))
		<-ctx.Done()
		return Page{}, fmt.Errorf("stopped: %w", ctx.Err())
	})
	if _, err := (Desk{w, f, Extractive{}}).Answer(ctx, question, always); fault.KindOf(err) != fault.Canceled || !strings.Contains(err.Error(), "task was canceled") {
		t.Errorf("canceled while reading: %v, want the cause", err)
	}
	// A listener that has enough is no failure.
	if got, err := (Desk{w, w, Extractive{}}).Answer(t.Context(), question, func(Step, int) bool { return false }); err != nil || got.Extracted != "" {
		t.Errorf("nobody listens: %+v, %v; want nothing", got, err)
	}
}

type fetch func(context.Context, string) (Page, error)

func (f fetch) Fetch(ctx context.Context, address string) (Page, error) { return f(ctx, address) }
