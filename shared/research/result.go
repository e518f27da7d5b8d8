package research

import (
	"fmt"
	"time"
)

// Result is what came of a question. Its JSON is the artefact of browse_extract.
type Result struct {
	Extracted   string     `json:"extracted_data"` // with marks [n], n of a citation
	Topic       string     `json:"source_query"`
	Summary     []Found    `json:"search_results_summary"`
	Citations   []Citation `json:"citations"` // those that hold
	Grounded    bool       `json:"grounded"`  // at least 80 of 100 quotes stand in their source, and there are some
	Provider    string     `json:"provider"`
	Model       string     `json:"model"`
	RetrievedAt time.Time  `json:"retrieved_at"`
}

// Found is a page that the search found, in its order.
type Found struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Content string `json:"content"` // the snippet
}

// Citation is a quote that stands in its source, white space aside.
type Citation struct {
	N         int       `json:"n"`
	URL       string    `json:"url"`
	Title     string    `json:"title"`
	Quote     string    `json:"quote"`
	FetchedAt time.Time `json:"fetched_at"`
}

func (d Desk) result(q Question, sources []Source, draft Draft, valid []Quote) Result {
	at := q.Now.UTC().Truncate(time.Second)
	r := Result{
		Extracted: draft.Answer, Topic: q.Topic, Summary: []Found{}, Citations: []Citation{},
		Grounded: Score(len(valid), len(draft.Quotes)) >= PassMark,
		Provider: d.Search.Name(), Model: d.Extractor.Name(), RetrievedAt: at,
	}
	for _, s := range sources {
		r.Summary = append(r.Summary, Found{Title: s.Title, URL: s.URL, Content: s.Snippet})
	}
	for _, v := range valid {
		s := sources[v.N-1]
		r.Citations = append(r.Citations, Citation{N: v.N, URL: s.URL, Title: s.Title, Quote: v.Text, FetchedAt: at})
	}
	switch {
	case len(sources) == 0:
		r.Extracted = fmt.Sprintf("The search found no page on %q, so there is nothing to extract.", q.Topic)
	case r.Extracted == "":
		r.Extracted = fmt.Sprintf("Nothing in what was found on %q says what was asked for.", q.Topic)
	}
	return r
}
