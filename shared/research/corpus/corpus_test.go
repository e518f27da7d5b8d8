package corpus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/research"
)

func closing(t testing.TB, c *Corpus) *Corpus {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func urls(hits []research.Hit) []string {
	found := []string{}
	for _, h := range hits {
		found = append(found, h.URL)
	}
	return found
}

// Each question finds first the document that is about it.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	c := closing(t, Embedded())
	tests := map[string]string{
		"bid bond":                                "corpus:/bid-bond",
		"what does a performance bond cost":       "corpus:/performance-and-payment-bonds",
		"contingency":                             "corpus:/contingency",
		"site supervision and temporary power":    "corpus:/general-conditions",
		"markup versus margin":                    "corpus:/overhead-and-profit",
		"how to measure quantities from drawings": "corpus:/quantity-takeoff",
		"waste factor for tile":                   "corpus:/waste-factor",
		"payroll taxes and workers compensation":  "corpus:/labor-burden",
		"location factors":                        "corpus:/location-factor",
		"escalation of prices":                    "corpus:/escalation",
		"AACE estimate classes accuracy":          "corpus:/estimate-classes",
		"change orders":                           "corpus:/change-orders",
		"retainage":                               "corpus:/retainage",
		"critical path method":                    "corpus:/critical-path",
		"allowance for light fixtures":            "corpus:/allowances",
		"masterformat division numbers":           "corpus:/masterformat",
	}
	for text, want := range tests {
		hits, err := c.Search(t.Context(), research.Query{Text: text, Max: 3})
		if err != nil || len(hits) == 0 || hits[0].URL != want {
			t.Errorf("Search(%q) = %v, %v; want %s first", text, urls(hits), err, want)
			continue
		}
		h := hits[0]
		if len(hits) > 3 || h.Text == "" || h.Title == "" || h.Snippet == "" || h.Score <= 0 {
			t.Errorf("Search(%q) = %d hits, the first %+v; want at most 3, complete", text, len(hits), h)
		}
	}
}

// The documents that are part of the program keep what their SOURCES say.
func TestEmbeddedIsWhole(t *testing.T) {
	t.Parallel()
	folder, err := fs.Sub(data, "data")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := load(folder)
	if err != nil || len(docs) < 12 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	for _, d := range docs {
		words := len(strings.Fields(d.text))
		if d.date.IsZero() || d.title == "" || !strings.Contains(d.text, "\nSources: ") || words < 90 || words > 400 || strings.Contains(d.url, "#") {
			t.Errorf("%s: title %q, date %v, %d words; want a title, a date, sources and 90 to 400 words", d.url, d.title, d.date, words)
		}
		if research.Clean(d.text, len(d.text)) != d.text {
			t.Errorf("%s: its text is not clean", d.url)
		}
	}
}

func TestNothingFits(t *testing.T) {
	t.Parallel()
	c := closing(t, Embedded())
	for _, text := range []string{"quantum chromodynamics", "", "   ", "the of and", `"(*:^~`, "\xff\xfe", strings.Repeat("zzzq ", 100)} {
		hits, err := c.Search(t.Context(), research.Query{Text: text, Max: 3})
		if err != nil || len(hits) != 0 {
			t.Errorf("Search(%.20q) = %v, %v; want nothing", text, urls(hits), err)
		}
	}
	empty := closing(t, New(fstest.MapFS{}))
	if hits, err := empty.Search(t.Context(), research.Query{Text: "bond", Max: 3}); err != nil || len(hits) != 0 {
		t.Errorf("Search in an empty folder = %v, %v; want nothing", hits, err)
	}
}

// The same search gives the same hits, whatever ran before and beside it.
func TestSearchIsStable(t *testing.T) {
	t.Parallel()
	first, second := closing(t, Embedded()), closing(t, Embedded())
	for _, text := range []string{"cost", "bond price percent", "contract"} {
		q := research.Query{Text: text, Max: 10}
		a, err := first.Search(t.Context(), q)
		if err != nil || len(a) < 3 {
			t.Fatalf("Search(%q) = %v, %v", text, urls(a), err)
		}
		for range 5 {
			b, err := second.Search(t.Context(), q)
			if d := cmp.Diff(a, b); err != nil || d != "" {
				t.Fatalf("Search(%q) again: %v\n%s", text, err, d)
			}
		}
	}
}

var folder = fstest.MapFS{
	"bonds.md":         {Data: []byte("---\ntitle: \"On bonds\"\ndate: 2026-11-01\n---\n# Heading of bonds\n\nThe **penal sum** of a [bid bond](https://x.example) is `five` percent.\n> quoted bond\n```go\nbond\n```\n---\n")},
	"sub/old.txt":      {Data: []byte("---\r\ndate: 2001-01-01\r\n---\r\nAn old word about a bond.")},
	"undated.txt":      {Data: []byte("--- no front matter\nA bond without a date.")},
	"page.html":        {Data: []byte("<title>Page on bonds</title><p>A bond in HTML.</p><script>bond()</script>")},
	"picture.png":      {Data: []byte("bond")},
	".hidden.md":       {Data: []byte("bond")},
	".git/objects.txt": {Data: []byte("bond")},
	"empty.txt":        {Data: []byte(" \n ")},
}

func TestLoad(t *testing.T) {
	t.Parallel()
	docs, err := load(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []document{
		{"corpus:/bonds", "On bonds", "Heading of bonds\nThe penal sum of a bid bond is five percent.\nquoted bond\nbond", time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
		{"corpus:/page", "Page on bonds", "A bond in HTML.", time.Time{}},
		{"corpus:/sub/old", "old", "An old word about a bond.", time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"corpus:/undated", "undated", "--- no front matter\nA bond without a date.", time.Time{}},
	}
	if d := cmp.Diff(want, docs, cmp.AllowUnexported(document{})); d != "" {
		t.Errorf("load (-want +got):\n%s", d)
	}
}

func TestFreshness(t *testing.T) {
	t.Parallel()
	c := closing(t, New(folder))
	tests := []struct {
		since string
		want  []string
	}{
		{"", []string{"corpus:/bonds", "corpus:/page", "corpus:/sub/old", "corpus:/undated"}},
		{"2026-11-01T23:00:00Z", []string{"corpus:/bonds"}}, // the day counts, not the hour
		{"2026-11-02T00:00:00Z", []string{}},
		{"2000-01-01T00:00:00Z", []string{"corpus:/bonds", "corpus:/sub/old"}},
	}
	for _, tt := range tests {
		q := research.Query{Text: "bond", Max: 10}
		if tt.since != "" {
			since, err := time.Parse(time.RFC3339, tt.since)
			if err != nil {
				t.Fatal(err)
			}
			q.Since = since
		}
		hits, err := c.Search(t.Context(), q)
		got := urls(hits)
		slices.Sort(got)
		if d := cmp.Diff(tt.want, got); err != nil || d != "" {
			t.Errorf("Search since %q: %v (-want +got):\n%s", tt.since, err, d)
		}
	}
}

// A long file is found by its parts, each short enough to be read whole.
func TestParts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "Line %d says something about gypsum number%d and its price.\n", i, i)
	}
	c := closing(t, New(fstest.MapFS{"long.txt": {Data: []byte(b.String())}}))
	hits, err := c.Search(t.Context(), research.Query{Text: "number399", Max: 5})
	if err != nil || len(hits) != 1 || hits[0].URL != "corpus:/long#5" || len(hits[0].Text) > research.MaxText || !strings.HasPrefix(hits[0].Text, "Line ") {
		t.Errorf("Search = %v, %v; want the last part alone, whole lines", urls(hits), err)
	}
	for text, want := range map[string]int{strings.Repeat("ä", 10): 8, "aa bb cc": 2, "aa\nbb cc": 2, "aaaa": 4} {
		if got := cut(text, 4); got != want {
			t.Errorf("cut(%q, 4) = %d, want %d", text, got, want)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]fstest.MapFS{
		"too large":    {"a.txt": {Data: make([]byte, maxFile+1)}},
		"a bad date":   {"a.md": {Data: []byte("---\ndate: yesterday\n---\ntext")}},
		"a bad page":   {"a.html": {Data: []byte(strings.Repeat("<b><div>", 600))}},
		"many of them": crowd(maxFiles + 1),
	}
	for name, folder := range tests {
		c := New(folder)
		if _, err := load(folder); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: load = %v, want fault.Invalid", name, err)
		}
		for range 2 { // the second search says the same; whoever asks is not at fault
			if _, err := c.Search(t.Context(), research.Query{Text: "a", Max: 1}); fault.KindOf(err) != fault.Internal {
				t.Errorf("%s: Search = %v, want fault.Internal", name, err)
			}
		}
	}
	if _, err := New(broken{}).Search(t.Context(), research.Query{Text: "a", Max: 1}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a folder that cannot be read: %v, want its error", err)
	}
}

func crowd(n int) fstest.MapFS {
	m := fstest.MapFS{}
	for i := range n {
		m[fmt.Sprintf("%d.txt", i)] = &fstest.MapFile{}
	}
	return m
}

type broken struct{}

func (broken) Open(string) (fs.File, error) { return nil, fs.ErrPermission }

// A link out of the folder leads nowhere.
func TestLinksStayInside(t *testing.T) {
	t.Parallel()
	outside, inside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("a secret bond"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"file.txt": filepath.Join(outside, "secret.txt"), "dir": outside} {
		if err := os.Symlink(target, filepath.Join(inside, link)); err != nil {
			t.Skip("no links here")
		}
	}
	root, err := os.OpenRoot(inside)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	c := closing(t, New(root.FS()))
	if hits, err := c.Search(t.Context(), research.Query{Text: "bond", Max: 5}); err != nil || len(hits) != 0 {
		t.Errorf("Search = %v, %v; want nothing", urls(hits), err)
	}
}

func TestSearchStops(t *testing.T) {
	t.Parallel()
	c := closing(t, Embedded())
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fault.New(fault.Canceled, "the task was canceled"))
	if _, err := c.Search(ctx, research.Query{Text: "bond", Max: 5}); fault.KindOf(err) != fault.Canceled {
		t.Errorf("Search, canceled = %v, want fault.Canceled", err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	c := Embedded()
	if err := c.Close(); err != nil {
		t.Errorf("Close before a search = %v", err)
	}
	if _, err := c.Search(t.Context(), research.Query{Text: "bond", Max: 5}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Errorf("Close, twice = %v", err)
	}
	if _, err := c.Search(t.Context(), research.Query{Text: "bond", Max: 5}); fault.KindOf(err) != fault.Internal {
		t.Errorf("Search after Close = %v, want fault.Internal", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a.md", []byte("---\ntitle: x\ndate: 2026-01-01\n---\n# a\n[b](c)"))
	f.Add("a.txt", []byte("---\n---\n"))
	f.Add("a.html", []byte("<p>a"))
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		if media[filepath.Ext(name)] == "" {
			return
		}
		docs, err := read(name, body)
		if err != nil {
			return
		}
		for _, d := range docs {
			if d.text == "" || research.Clean(d.text, research.MaxText) != d.text {
				t.Fatalf("read(%q, %q) = %q, which is not clean", name, body, d.text)
			}
		}
	})
}

func library(n int) fstest.MapFS {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("bond price surety owner concrete steel labor crew wage permit tax contract risk schedule float finish door window roof wall")
	m := fstest.MapFS{}
	for i := range n {
		var b strings.Builder
		for range 300 {
			b.WriteString(words[rng.IntN(len(words))] + " ")
		}
		m[fmt.Sprintf("%d.txt", i)] = &fstest.MapFile{Data: []byte(b.String())}
	}
	return m
}

func BenchmarkIndex(b *testing.B) {
	for name, folder := range map[string]fs.FS{"embedded": nil, "1000": library(1000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := Embedded()
				if folder != nil {
					c = New(folder)
				}
				if _, err := c.open(); err != nil {
					b.Fatal(err)
				}
				if err := c.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for name, c := range map[string]*Corpus{"embedded": closing(b, Embedded()), "1000": closing(b, New(library(1000)))} {
		b.Run(name, func(b *testing.B) {
			if _, err := c.open(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if hits, err := c.Search(b.Context(), research.Query{Text: "bond price of the owner", Max: 3}); err != nil || len(hits) == 0 {
					b.Fatal(hits, err)
				}
			}
		})
	}
}
