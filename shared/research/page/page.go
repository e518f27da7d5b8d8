// Package page reads pages of the web: it fetches them through a guarded client
// and turns HTML into what a person would read of it.
//
// The readable part is found by readability. Where that finds none, or the page
// is larger than it should have to look at, all visible text counts. Scripts,
// styles, comments, forms and what a page hides are no text.
package page

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/research"
)

// Doer sends a request to an address that a search found: it refuses what is not
// public, follows few redirects, and bounds the answer in bytes and time. A body
// that is too long ends with fault.Exhausted.
type Doer interface {
	Do(req *http.Request) (*http.Response, error)
}

// Reader fetches pages. It is a research.Fetch.
type Reader struct{ HTTP Doer }

var _ research.Fetch = Reader{}

const (
	maxWeight = 400_000 // of a page that readability looks at: the depths of its nodes, summed
	maxTitle  = 200     // characters
	maxText   = 100_000 // characters of a page before it is cut to what a source holds
)

// Fetch returns a page. One that is too long is read as far as it goes. It
// returns fault.NotFound or fault.Unavailable for an answer other than 200,
// fault.Invalid for what is no text, and what HTTP returns.
func (r Reader) Fetch(ctx context.Context, address string) (research.Page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return research.Page{}, fault.New(fault.Invalid, "url: wanted an absolute address")
	}
	req.Header.Set("Accept", "text/html, application/xhtml+xml, text/plain;q=0.8, text/markdown;q=0.8")
	req.Header.Set("User-Agent", "TrueCost")
	res, err := r.HTTP.Do(req)
	if err != nil {
		return research.Page{}, fmt.Errorf("fetch page: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	switch {
	case res.StatusCode == http.StatusOK:
	case res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests:
		return research.Page{}, fault.New(fault.Unavailable, "%s answered %d", req.URL.Hostname(), res.StatusCode)
	default:
		return research.Page{}, fault.New(fault.NotFound, "%s answered %d", req.URL.Hostname(), res.StatusCode)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil && fault.KindOf(err) != fault.Exhausted {
		return research.Page{}, fmt.Errorf("read page of %s: %w", req.URL.Hostname(), err)
	}
	return Read(body, res.Header.Get("Content-Type"))
}

// Read returns what can be read of a document with a media type; without one, of
// what it looks like. It returns fault.Invalid for what is no text.
func Read(body []byte, contentType string) (research.Page, error) {
	if contentType == "" {
		contentType = http.DetectContentType(body)
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = ""
	}
	switch media {
	case "text/html", "application/xhtml+xml", "text/plain", "text/markdown":
	default:
		return research.Page{}, fault.New(fault.Invalid, "the page is no text")
	}
	decoded, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return research.Page{}, fault.Wrap(fault.Invalid, err, "the page has a character set that nobody knows")
	}
	text, err := io.ReadAll(decoded)
	if err != nil {
		return research.Page{}, fault.Wrap(fault.Invalid, err, "the page is not in its character set")
	}
	if media == "text/plain" || media == "text/markdown" {
		return research.Page{Text: research.Clean(string(text), maxText)}, nil
	}
	return readHTML(text)
}

func readHTML(text []byte) (research.Page, error) {
	doc, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return research.Page{}, fault.Wrap(fault.Invalid, err, "the page is no HTML that can be read")
	}
	prune(doc)
	title, main := readable(doc)
	if main == "" {
		main = Visible(doc)
	}
	if title == "" {
		title = titleOf(doc)
	}
	return research.Page{Title: research.Line(title, maxTitle), Text: research.Clean(main, maxText)}, nil
}

// nowhere stands for the address of every page: readability resolves links by
// it, and we read none.
var nowhere = &url.URL{Scheme: "https", Host: "page.invalid"}

// readable returns title and main text of a page; nothing where there is no main
// part, or where the library gives up, however it does.
func readable(doc *html.Node) (title, text string) {
	defer func() {
		if recover() != nil { // a page must not end more than its own reading
			title, text = "", ""
		}
	}()
	if weight(doc, 0, maxWeight) < 0 {
		return "", "" // it would look at each node's ancestors, again and again
	}
	p := readability.NewParser()
	article, err := p.ParseDocument(doc, nowhere)
	if err != nil || article.Node == nil {
		return "", ""
	}
	return article.Title(), strings.TrimSpace(Visible(article.Node))
}

// weight returns what is left of a budget after the depths of all nodes below n
// were taken from it; less than 0 when it was not enough.
func weight(n *html.Node, depth, budget int) int {
	budget -= depth
	for c := range n.ChildNodes() {
		if budget < 0 {
			break
		}
		budget = weight(c, depth+1, budget)
	}
	return budget
}

// titleOf returns what stands in the title element.
func titleOf(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "title" && n.FirstChild != nil {
			return n.FirstChild.Data
		}
	}
	return ""
}
