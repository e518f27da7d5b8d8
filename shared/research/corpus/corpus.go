package corpus

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/en" // the analyzer en
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/research"
)

//go:embed data/*.md
var data embed.FS

// Corpus searches the documents of a folder. It is safe for use by several
// goroutines.
type Corpus struct {
	open func() (*index, error)

	mu     sync.Mutex // guards opened
	opened bleve.Index
}

var _ research.Search = (*Corpus)(nil)

// index is what a first search builds.
type index struct {
	docs map[string]document // by address
	full bleve.Index
}

// New returns a corpus of the files below a folder: .md, .txt and .html. A text
// file may begin with lines title: and date: between two lines ---.
func New(folder fs.FS) *Corpus {
	c := &Corpus{}
	c.open = sync.OnceValues(func() (*index, error) {
		docs, err := load(folder)
		if err != nil {
			return nil, err
		}
		i, err := build(docs)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "index %d documents", len(docs))
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.opened = i.full
		return i, nil
	})
	return c
}

// Embedded returns the corpus that is part of the program.
func Embedded() *Corpus {
	folder, err := fs.Sub(data, "data")
	if err != nil {
		panic(err) // a constant that is no path
	}
	return New(folder)
}

// Close gives the index back. A search afterwards fails.
func (c *Corpus) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened == nil {
		return nil
	}
	if err := c.opened.Close(); err != nil {
		return fmt.Errorf("close the index: %w", err)
	}
	c.opened = nil
	return nil
}

// Name returns corpus.
func (c *Corpus) Name() string { return "corpus" }

const (
	titleBoost = 2.0  // what a word in a title counts more than in the text
	maxLooked  = 1000 // documents looked at for one search
)

// entry is a document as the index sees it.
type entry struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// build indexes documents in memory. Only the positions of words are kept: the
// texts stay where they are.
func build(docs []document) (*index, error) {
	m := bleve.NewIndexMapping()
	m.ScoringModel = "bm25"
	words := bleve.NewTextFieldMapping()
	words.Analyzer, words.Store, words.IncludeInAll, words.IncludeTermVectors, words.DocValues = "en", false, false, false, false
	m.DefaultMapping = bleve.NewDocumentStaticMapping()
	m.DefaultMapping.AddFieldMappingsAt("title", words)
	m.DefaultMapping.AddFieldMappingsAt("text", words)
	full, err := inMemory(m)
	if err != nil {
		return nil, err
	}
	i := &index{docs: make(map[string]document, len(docs)), full: full}
	batch := full.NewBatch()
	for _, d := range docs {
		i.docs[d.url] = d
		if err := batch.Index(d.url, entry{d.title, d.text}); err != nil {
			return nil, errors.Join(fmt.Errorf("index %s: %w", d.url, err), full.Close())
		}
	}
	if err := full.Batch(batch); err != nil {
		return nil, errors.Join(fmt.Errorf("write the index: %w", err), full.Close())
	}
	return i, nil
}

// inMemory opens an index without files. NewMemOnly takes an older kind that
// knows nothing of BM25.
func inMemory(m mapping.IndexMapping) (bleve.Index, error) {
	full, err := bleve.NewUsing("", m, scorch.Name, scorch.Name, nil)
	if err != nil {
		return nil, fmt.Errorf("open an index: %w", err)
	}
	return full, nil
}

// Search returns the documents that share words with the query, with their text.
// Documents without a date are left out where a date is asked for. It returns
// fault.Internal when the folder cannot be read.
func (c *Corpus) Search(ctx context.Context, q research.Query) ([]research.Hit, error) {
	i, err := c.open()
	if err != nil { // whoever keeps the folder is at fault, not who asks
		return nil, fault.Wrap(fault.Internal, err, "open the corpus")
	}
	found, err := i.full.SearchInContext(ctx, request(q))
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("search the corpus: %w", context.Cause(ctx))
		}
		return nil, fault.Wrap(fault.Internal, err, "search the corpus")
	}
	hits := []research.Hit{}
	for _, h := range found.Hits {
		d := i.docs[h.ID]
		if len(hits) == q.Max {
			break
		}
		if q.Since.IsZero() || !d.date.Before(q.Since.UTC().Truncate(24*time.Hour)) {
			hits = append(hits, research.Hit{Title: d.title, URL: d.url, Snippet: research.Snippet(d.title, d.text, q.Text), Score: h.Score, Text: d.text})
		}
	}
	return hits, nil
}

func request(q research.Query) *bleve.SearchRequest {
	text := strings.ToValidUTF8(q.Text, " ")
	title, body := bleve.NewMatchQuery(text), bleve.NewMatchQuery(text)
	title.SetField("title")
	title.SetBoost(titleBoost)
	body.SetField("text")
	r := bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(title, body), q.Max, 0, false)
	if !q.Since.IsZero() {
		r.Size = maxLooked
	}
	r.SortByCustom(search.SortOrder{&search.SortScore{Desc: true}, &search.SortDocID{}})
	return r
}
