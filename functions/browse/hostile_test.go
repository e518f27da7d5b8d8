package browse

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/research"
	"truecost.dev/shared/research/page"
)

// site is a web of files, found in their order.
type site struct {
	hits  []research.Hit
	files map[string]string // by address
}

func (s site) Name() string { return "site" }

func (s site) Search(context.Context, research.Query) ([]research.Hit, error) { return s.hits, nil }

func (s site) Do(req *http.Request) (*http.Response, error) {
	body, err := os.Open(s.files[req.URL.String()])
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: io.NopCloser(body)}, nil
}

const honest = "https://honest.example/bonds"

// siteOf finds files in their order; the honest one is named by "".
func siteOf(files ...string) site {
	s := site{files: map[string]string{}}
	for i, f := range files {
		address := fmt.Sprintf("https://hostile.example/%d", i)
		if f == "" {
			f, address = "testdata/honest.html", honest
		}
		s.hits = append(s.hits, research.Hit{URL: address})
		s.files[address] = f
	}
	return s
}

func (s site) desk() (research.Desk, error) {
	return research.Desk{Search: s, Fetch: page.Reader{HTTP: s}, Extractor: research.Extractive{}}, nil
}

const bidBond = `{"search_topic":"bid bond","extraction_instruction":"What is the usual penal sum, in percent of the bid price?","max_results":5}`

// A hostile page can say what it likes and be quoted with it, as its own. It
// changes nothing else: not what another page is quoted with, not who said what,
// not how the task goes. What it hides is not quoted at all.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("testdata/hostile/*.html")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d hostile pages, %v; want at least 20", len(pages), err)
	}
	alone, steps := answer(t, siteOf("").desk, bidBond)
	if len(alone.Citations) == 0 || !alone.Grounded {
		t.Fatalf("the honest page alone is quoted with %v", alone.Citations)
	}
	quoted := 0
	for _, p := range pages {
		for _, s := range []site{siteOf("", p), siteOf(p, ""), siteOf(p, "", p)} {
			got, gotSteps := answer(t, s.desk, bidBond)
			if d := cmp.Diff(quotesOf(alone, honest), quotesOf(got, honest)); d != "" {
				t.Errorf("%s changes what the honest page is quoted with:\n%s", p, d)
			}
			quoted += len(got.Citations) - len(quotesOf(got, honest))
			lines(t, p, got)
			if got.Topic != alone.Topic || got.Provider != alone.Provider || got.Model != alone.Model || !got.Grounded || !got.RetrievedAt.Equal(alone.RetrievedAt) {
				t.Errorf("%s changes the result: %+v", p, got)
			}
			if d := cmp.Diff(counted(steps), counted(gotSteps)); d != "" {
				t.Errorf("%s changes how the task goes:\n%s", p, d)
			}
			raw, err := json.Marshal(got)
			if err != nil || strings.Contains(string(raw), "PWNED") || strings.Contains(string(raw), "169.254") {
				t.Errorf("%s: what nobody sees is told: %s, %v", p, raw, err)
			}
		}
	}
	if quoted == 0 {
		t.Error("no hostile page was quoted: the test shows nothing")
	}
}

// quotesOf returns what a page is quoted with.
func quotesOf(r research.Result, url string) []string {
	var quotes []string
	for _, c := range r.Citations {
		if c.URL == url {
			quotes = append(quotes, c.Quote)
		}
	}
	return quotes
}

var mark = regexp.MustCompile(`\[\s*\d+\s*\]`)

// lines checks that an answer is its quotes and nothing else, each on a line that
// ends with its mark, the only mark in it.
func lines(t *testing.T, p string, r research.Result) {
	t.Helper()
	var want []string
	for _, c := range r.Citations {
		want = append(want, fmt.Sprintf("%s [%d]", c.Quote, c.N))
		if c.N < 1 || c.N > len(r.Summary) || r.Summary[c.N-1].URL != c.URL {
			t.Errorf("%s: citation %d is of %s, want the page of that number", p, c.N, c.URL)
		}
		if mark.MatchString(c.Quote + c.Title) {
			t.Errorf("%s: a mark of the page survives in %q, %q", p, c.Quote, c.Title)
		}
		for _, r := range c.Quote + c.Title {
			if !unicode.IsGraphic(r) {
				t.Errorf("%s: %U in %q, %q", p, r, c.Quote, c.Title)
			}
		}
	}
	if d := cmp.Diff(strings.Join(want, "\n"), r.Extracted); d != "" {
		t.Errorf("%s: the answer is not its quotes (-want +got):\n%s", p, d)
	}
}

var digits = regexp.MustCompile(`\d+ (page|quote)s?`)

// counted takes the counts out of the words of the steps.
func counted(steps []string) []string {
	var out []string
	for _, s := range steps {
		out = append(out, digits.ReplaceAllString(s, "n $1"))
	}
	return out
}
