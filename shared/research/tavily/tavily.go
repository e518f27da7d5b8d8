// Package tavily searches the web by the search API of Tavily:
// https://docs.tavily.com/documentation/api-reference/endpoint/search.
//
// It asks for titles, addresses and snippets alone: pages are read by us, so that
// what is quoted is what we saw.
package tavily

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/research"
)

// Home is the address of the API.
const Home = "https://api.tavily.com"

const (
	timeout    = 10 * time.Second
	maxAnswer  = 1 << 20 // bytes
	maxResults = 20      // that the API returns at most
)

// Doer sends requests to the API. It follows no redirects: the key is for one
// host.
type Doer interface {
	Do(req *http.Request) (*http.Response, error)
}

// Search asks the API. It is safe for use by several goroutines.
type Search struct {
	HTTP Doer
	URL  string // empty: Home
	Key  string // of an account; tvly-…
}

var _ research.Search = Search{}

// Name returns tavily.
func (Search) Name() string { return "tavily" }

type question struct {
	Query       string `json:"query"`
	MaxResults  int    `json:"max_results"`
	Depth       string `json:"search_depth"`
	StartDate   string `json:"start_date,omitempty"` // published or updated from that day on
	Answer      bool   `json:"include_answer"`
	RawContent  bool   `json:"include_raw_content"`
	Images      bool   `json:"include_images"`
	Suggestions bool   `json:"auto_parameters"`
}

type answer struct {
	Results *[]struct {
		Title   string  `json:"title"`
		URL     string  `json:"url"`
		Content string  `json:"content"`
		Score   float64 `json:"score"`
	} `json:"results"`
}

// Search returns what the API found, in its order. It returns fault.Exhausted
// when the account has used up its rate or its plan, fault.Timeout and
// fault.Unavailable when the API is away, and fault.Internal when it refuses the
// key or answers with something else than results.
func (s Search) Search(ctx context.Context, q research.Query) ([]research.Hit, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fault.New(fault.Timeout, "the search took longer than %v", timeout))
	defer cancel()
	body, err := s.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil || a.Results == nil {
		return nil, fault.Wrap(fault.Internal, errors.Join(err, errShape), "read the answer of tavily")
	}
	hits := []research.Hit{}
	for _, r := range *a.Results {
		if len(hits) < q.Max {
			hits = append(hits, research.Hit{Title: r.Title, URL: r.URL, Snippet: r.Content, Score: r.Score})
		}
	}
	return hits, nil
}

var errShape = errors.New("the answer has no results")

// ask returns the body of an answer with status 200.
func (s Search) ask(ctx context.Context, q research.Query) ([]byte, error) {
	ask := question{Query: q.Text, MaxResults: min(q.Max, maxResults), Depth: "basic"}
	if !q.Since.IsZero() {
		ask.StartDate = q.Since.UTC().Format(time.DateOnly)
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode a search")
	}
	home := s.URL
	if home == "" {
		home = Home
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(home, "/")+"/search", bytes.NewReader(body))
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the address of tavily")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.Key)
	res, err := s.HTTP.Do(req)
	if err != nil {
		return nil, away(ctx, err)
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	if res.StatusCode != http.StatusOK {
		return nil, refused(res.StatusCode)
	}
	got, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, away(ctx, err)
	}
	if len(got) > maxAnswer {
		return nil, fault.New(fault.Internal, "tavily answered with more than %d bytes", maxAnswer)
	}
	return got, nil
}

// away says why there was no answer.
func away(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("ask tavily: %w", context.Cause(ctx))
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return fault.Wrap(fault.Unavailable, err, "the search cannot be reached")
}

// Statuses of the API beside HTTP's own: the plan's limit, and the limit of
// paying as one goes.
const (
	statusPlan = 432
	statusPaid = 433
)

// refused turns a status into an error. What the API says in words is not passed
// on: it may name the account.
func refused(status int) error {
	switch {
	case status == http.StatusTooManyRequests, status == statusPlan, status == statusPaid:
		return fault.New(fault.Exhausted, "the search has no quota left")
	case status >= 500, status == http.StatusRequestTimeout:
		return fault.New(fault.Unavailable, "the search answered %d", status)
	default:
		return fault.New(fault.Internal, "tavily answered %d", status)
	}
}
