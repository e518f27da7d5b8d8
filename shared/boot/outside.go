package boot

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"truecost.dev/shared/a2a/front"
	"truecost.dev/shared/a2a/webhook"
	"truecost.dev/shared/egress"
	"truecost.dev/shared/host"
	"truecost.dev/shared/research"
	"truecost.dev/shared/research/corpus"
	"truecost.dev/shared/research/page"
	"truecost.dev/shared/research/tavily"
)

// Outside says where research looks. Without any of it, it looks in the documents
// that are part of the program.
type Outside struct {
	Corpus string `env:"TRUECOST_CORPUS"` // a folder of .md, .txt and .html files instead

	// TavilyKey searches the web by Tavily instead, at TavilyURL.
	TavilyKey Secret `env:"TAVILY_API_KEY"`
	TavilyURL string `env:"TAVILY_API_URL, default=https://api.tavily.com"`
}

// checkOutside returns what is wrong with it.
func (o Outside) checkOutside() error {
	if o.TavilyKey == "" {
		return nil
	}
	if o.Corpus != "" {
		return fmt.Errorf("TRUECOST_CORPUS: %s is not wanted beside TAVILY_API_KEY: one of the two", o.Corpus)
	}
	u, err := url.Parse(o.TavilyURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "127.0.0.1") {
		return fmt.Errorf("TAVILY_API_URL: %s is not an https address, to which a key may go", o.TavilyURL)
	}
	return nil
}

// Research returns what answers questions from pages.
func (s *Services) Research() (research.Desk, error) { return s.research() }

func (s *Services) newResearch() (research.Desk, error) {
	desk := research.Desk{
		Fetch:     page.Reader{HTTP: egress.New(egress.Options{Plain: true, Redirects: 3, MaxBytes: 2 << 20})},
		Extractor: research.Extractive{},
	}
	o := s.Config.Outside
	if o.TavilyKey != "" {
		desk.Search = tavily.Search{HTTP: apiClient(), URL: o.TavilyURL, Key: string(o.TavilyKey)}
		return desk, nil
	}
	documents := corpus.Embedded()
	if o.Corpus != "" {
		root, err := os.OpenRoot(o.Corpus) // links out of the folder lead nowhere
		if err = s.keep(err, func() error { return root.Close() }); err != nil {
			return desk, fmt.Errorf("TRUECOST_CORPUS: %w", err)
		}
		documents = corpus.New(root.FS())
	}
	desk.Search = documents
	return desk, s.keep(nil, documents.Close)
}

// apiClient calls a service whose key must not go elsewhere.
func apiClient() *http.Client {
	return &http.Client{
		Timeout:       15 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// webhooks are told over the guarded client. On the local system they may be on
// the same machine.
func (s *Services) webhooks() *host.Webhooks {
	out := egress.New(egress.Options{Plain: s.Config.LocalAuth, Loopback: s.Config.LocalAuth, Timeout: webhook.Timeout})
	return &host.Webhooks{Allow: out.Allow, Sender: &webhook.Sender{HTTP: out, Log: s.Log, Early: front.EarlyTask}}
}
