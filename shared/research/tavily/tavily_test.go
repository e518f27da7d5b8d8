package tavily

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/research"
)

const key = "tvly-s3cret"

// api answers every search with a status and a body, and tells what was asked.
func api(t *testing.T, status int, body string) (s Search, asked func() (header http.Header, body string)) {
	t.Helper()
	var header http.Header
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		header, got = r.Header, r.Method+" "+r.URL.Path+" "+string(raw)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return Search{HTTP: server.Client(), URL: server.URL + "/", Key: key}, func() (http.Header, string) { return header, got }
}

// found is an answer of the API, in the form that its reference shows.
const found = `{"query":"bid bond","follow_up_questions":null,"answer":null,"images":[],"results":[
 {"url":"https://a.example/bonds","title":"Bonds","content":"A bid bond is …","score":0.81025416,"raw_content":null},
 {"url":"https://b.example/","title":"More","content":"","score":0.5,"favicon":"https://b.example/i.png"},
 {"url":"https://c.example/","title":"One too many","content":"x","score":0.1}],
 "response_time":"1.67","request_id":"x"}`

func TestSearch(t *testing.T) {
	t.Parallel()
	s, asked := api(t, http.StatusOK, found)
	since := time.Date(2026, 11, 1, 1, 0, 0, 0, time.FixedZone("", 7200))
	got, err := s.Search(t.Context(), research.Query{Text: `bid "bond"`, Max: 2, Since: since})
	if err != nil {
		t.Fatal(err)
	}
	want := []research.Hit{
		{Title: "Bonds", URL: "https://a.example/bonds", Snippet: "A bid bond is …", Score: 0.81025416},
		{Title: "More", URL: "https://b.example/", Score: 0.5},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Search (-want +got):\n%s", d)
	}
	header, body := asked()
	wantBody := `POST /search {"query":"bid \"bond\"","max_results":2,"search_depth":"basic","start_date":"2026-10-31","include_answer":false,"include_raw_content":false,"include_images":false,"auto_parameters":false}`
	if body != wantBody {
		t.Errorf("asked %s\nwant  %s", body, wantBody)
	}
	if header.Get("Authorization") != "Bearer "+key || header.Get("Content-Type") != "application/json" {
		t.Errorf("asked with %v, want key and content type", header)
	}
}

func TestSearchFindsNothing(t *testing.T) {
	t.Parallel()
	s, asked := api(t, http.StatusOK, `{"results":[]}`)
	got, err := s.Search(t.Context(), research.Query{Text: "x", Max: 50})
	if err != nil || got == nil || len(got) != 0 {
		t.Errorf("Search = %v, %v; want no hits", got, err)
	}
	if _, body := asked(); !strings.Contains(body, `"max_results":20`) || strings.Contains(body, "start_date") {
		t.Errorf("asked %s, want at most 20 results of any date", body)
	}
}

// What goes wrong, and what the outside may read of it: neither the key nor the
// words of the API.
func TestSearchFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status int
		body   string
		want   fault.Kind
	}{
		{401, `{"detail":{"error":"Unauthorized: missing or invalid API key tvly-s3cret"}}`, fault.Internal},
		{400, `{"detail":{"error":"x"}}`, fault.Internal},
		{301, "", fault.Internal},
		{429, "", fault.Exhausted},
		{432, `{"detail":{"error":"plan limit of account 7"}}`, fault.Exhausted},
		{433, "", fault.Exhausted},
		{408, "", fault.Unavailable},
		{500, "", fault.Unavailable},
		{503, "", fault.Unavailable},
		{200, "", fault.Internal},
		{200, "<html>", fault.Internal},
		{200, "null", fault.Internal},
		{200, "{}", fault.Internal},
		{200, `{"results":null}`, fault.Internal},
		{200, `{"results":[{"title":7}]}`, fault.Internal},
		{200, `{"results":[` + strings.Repeat(" ", maxAnswer) + `]}`, fault.Internal},
	}
	for _, tt := range tests {
		s, _ := api(t, tt.status, tt.body)
		_, err := s.Search(t.Context(), research.Query{Text: "x", Max: 3})
		if fault.KindOf(err) != tt.want {
			t.Errorf("%d %.40s: %v, want kind %s", tt.status, tt.body, err, tt.want)
		}
		if said := fmt.Sprint(err, fault.Public(err)); strings.Contains(said, key) || strings.Contains(said, "account") {
			t.Errorf("%d: the error says %s", tt.status, said)
		}
	}
}

func TestSearchStops(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server notices that a caller left once it has read all
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	s := Search{HTTP: server.Client(), URL: server.URL, Key: key}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, fault.New(fault.Canceled, "the task was canceled"))
	defer cancel()
	if _, err := s.Search(ctx, research.Query{Text: "x", Max: 3}); fault.KindOf(err) != fault.Canceled {
		t.Errorf("Search, canceled = %v, want the cause", err)
	}
	server.Close()
	if _, err := s.Search(t.Context(), research.Query{Text: "x", Max: 3}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Search, nobody there = %v, want fault.Unavailable", err)
	}
	s.URL = "http://bad host"
	if _, err := s.Search(t.Context(), research.Query{Text: "x", Max: 3}); fault.KindOf(err) != fault.Internal {
		t.Errorf("Search at no address = %v, want fault.Internal", err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(found)
	f.Add(`{"results":[null]}`)
	f.Fuzz(func(t *testing.T, body string) {
		s := Search{HTTP: says(body), Key: key}
		hits, err := s.Search(t.Context(), research.Query{Text: "x", Max: 3})
		if err == nil && (len(hits) > 3 || !json.Valid([]byte(body))) {
			t.Errorf("Search = %d hits of %q", len(hits), body)
		}
	})
}

// says is an API that answers 200 with a body.
type says string

func (s says) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(s)))}, nil
}
