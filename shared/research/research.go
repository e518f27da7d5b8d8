package research

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// Bounds of what is read.
const (
	MaxText    = 6000 // characters of a source
	maxSnippet = 500  // characters of what a search shows of a page
	maxTitle   = 200  // characters
	maxAddress = 2048 // bytes
	atOnce     = 4    // pages that are fetched at the same time
)

// Question is what somebody wants to know.
type Question struct {
	Topic       string    // what to search for
	Instruction string    // what to extract from the pages found
	Results     int       // how many pages to read at most
	Since       time.Time // pages from then on alone; zero: any
	Now         time.Time // stamps the result
}

// Query is what a search is asked.
type Query struct {
	Text  string
	Max   int
	Since time.Time // published from then on; zero: any
}

// Hit is one page that a search found.
type Hit struct {
	Title, URL, Snippet string
	Score               float64 // of the search; higher is better
	Text                string  // of the whole page, where the search has it: then it is not fetched
}

// Search finds pages.
type Search interface {
	// Search returns the best hits first, at most q.Max, and none without an error
	// when nothing fits. It returns fault.Unavailable, fault.Timeout or
	// fault.Exhausted when trying later may help.
	Search(ctx context.Context, q Query) ([]Hit, error)
	Name() string // of the provider, as results tell it
}

// Page is what a reader sees of a page, cleaned.
type Page struct{ Title, Text string }

// Fetch reads a page.
type Fetch interface {
	Fetch(ctx context.Context, address string) (Page, error)
}

// Source is a page that was found, as far as it could be read.
type Source struct {
	N       int // from 1, in the order of the search
	Title   string
	URL     string
	Snippet string
	Text    string // of the page; of the snippet where the page could not be read
}

// Quote is a claim that source N says Text.
type Quote struct {
	N    int
	Text string
}

// Draft is an answer before its quotes were checked.
type Draft struct {
	Answer string // with a mark [n] behind what is from source n
	Quotes []Quote
}

// Extractor takes from sources what a question asks for. rejected are the quotes
// of the draft before that were not found; none at the first try.
type Extractor interface {
	Extract(ctx context.Context, q Question, sources []Source, rejected []Quote) (Draft, error)
	Name() string // of the model, as results tell it
}

// Step is how far the work is.
type Step int

// The steps, in their order.
const (
	Searching Step = iota
	Reading
	Extracting
)

// Desk answers questions. All of it is required.
type Desk struct {
	Search    Search
	Fetch     Fetch
	Extractor Extractor
}

// Answer answers a question. told hears of each step before it begins, with the
// number of pages found from Reading on; it ends the work by returning false, and
// then the error is ctx's or nil with an empty result.
//
// Nothing found is no error, and neither is a page that cannot be read: its
// snippet takes its place. It returns what Search and Extractor return, and the
// cause of ctx when that ends.
func (d Desk) Answer(ctx context.Context, q Question, told func(s Step, pages int) bool) (Result, error) {
	if !told(Searching, 0) {
		return Result{}, stopped(ctx)
	}
	hits, err := d.Search.Search(ctx, Query{Text: q.Topic, Max: q.Results, Since: q.Since})
	if err != nil {
		return Result{}, fmt.Errorf("search with %s: %w", d.Search.Name(), err)
	}
	hits = usable(hits, q.Results)
	if !told(Reading, len(hits)) {
		return Result{}, stopped(ctx)
	}
	sources, err := d.read(ctx, hits)
	if err != nil {
		return Result{}, err
	}
	if !told(Extracting, len(hits)) {
		return Result{}, stopped(ctx)
	}
	draft, valid, err := d.extract(ctx, q, sources)
	if err != nil {
		return Result{}, err
	}
	return d.result(q, sources, draft, valid), nil
}

// stopped says why the work ended early.
func stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("research was stopped: %w", context.Cause(ctx))
	}
	return nil
}

// usable cleans hits and leaves out those without an address, or with one that
// was there before.
func usable(hits []Hit, most int) []Hit {
	var kept []Hit
	seen := map[string]bool{}
	for _, h := range hits {
		if h.URL == "" || len(h.URL) > maxAddress || seen[h.URL] || len(kept) == most {
			continue
		}
		seen[h.URL] = true
		h.Title, h.Snippet, h.Text = Line(h.Title, maxTitle), Line(h.Snippet, maxSnippet), Clean(h.Text, MaxText)
		kept = append(kept, h)
	}
	return kept
}

// read turns hits into sources.
func (d Desk) read(ctx context.Context, hits []Hit) ([]Source, error) {
	sources := make([]Source, len(hits))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, h := range hits {
		sources[i] = Source{N: i + 1, Title: h.Title, URL: h.URL, Snippet: h.Snippet, Text: h.Text}
		if h.Text != "" {
			continue
		}
		g.Go(func() error {
			page, err := d.Fetch.Fetch(gctx, h.URL)
			if gctx.Err() != nil {
				return stopped(gctx)
			}
			s := &sources[i]
			if err == nil {
				s.Text = Clean(page.Text, MaxText)
			}
			if s.Text == "" {
				s.Text = h.Snippet
			}
			if s.Title == "" {
				s.Title = Line(page.Title, maxTitle)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("read %d pages: %w", len(hits), err)
	}
	return sources, nil
}

// extract has a draft made, and made again once if too little of it holds. The
// better of the two counts.
func (d Desk) extract(ctx context.Context, q Question, sources []Source) (Draft, []Quote, error) {
	if len(sources) == 0 {
		return Draft{}, nil, nil
	}
	draft, err := d.Extractor.Extract(ctx, q, sources, nil)
	if err != nil {
		return Draft{}, nil, fmt.Errorf("extract with %s: %w", d.Extractor.Name(), err)
	}
	valid, rejected := Grounding(sources, draft.Quotes)
	if Score(len(valid), len(draft.Quotes)) >= PassMark || len(draft.Quotes) == 0 && draft.Answer == "" {
		return draft, valid, nil
	}
	again, err := d.Extractor.Extract(ctx, q, sources, rejected)
	if err != nil {
		return Draft{}, nil, fmt.Errorf("extract again with %s: %w", d.Extractor.Name(), err)
	}
	validAgain, _ := Grounding(sources, again.Quotes)
	if Score(len(validAgain), len(again.Quotes)) >= Score(len(valid), len(draft.Quotes)) {
		return again, validAgain, nil
	}
	return draft, valid, nil
}
