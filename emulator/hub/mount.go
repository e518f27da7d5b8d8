package hub

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/host"
)

//go:embed hosting.html
var hostingText string

var hostingPage = template.Must(template.New("hosting").Parse(hostingText))

// mountFunctions serves each function at /{project}/{region}/{name} and at
// /{name}, sub-paths included.
func mountFunctions(at Addresses, functions []host.Function) http.Handler {
	mux := http.NewServeMux()
	for _, f := range functions {
		h := f.Handler
		if f.Kind == host.Event {
			h = eventarc(at.Project, f)
		}
		mount(mux, "/"+at.Project+"/"+at.Region+"/"+f.Name, h)
		mount(mux, "/"+f.Name, h)
	}
	return mux
}

// mountHosting serves the agents at /a2a/{name}, with and without the a2a_ of
// the function's name, and a page that says what runs here.
func mountHosting(v tableView, functions []host.Function) http.Handler {
	mux := http.NewServeMux()
	for _, f := range functions {
		if f.Kind != host.Agent {
			continue
		}
		mount(mux, "/a2a/"+f.Name, f.Handler)
		if short, ok := strings.CutPrefix(f.Name, "a2a_"); ok {
			mount(mux, "/a2a/"+short, f.Handler)
		}
	}
	mux.Handle(card.DirectoryPath, directory(functions))
	mux.Handle("GET /{$}", page(hostingPage, func(*http.Request) any {
		return struct {
			tableView
			Agents []agentView
		}{v, agents(v, functions)}
	}))
	return mux
}

// agentView is what the hosting page shows of an agent.
type agentView struct {
	functionView
	Does, Version string
}

// agents reads the agents of a table from their cards; one without says its name
// alone.
func agents(v tableView, functions []host.Function) []agentView {
	var all []agentView
	for i, f := range functions {
		if f.Kind != host.Agent {
			continue
		}
		a := agentView{functionView: v.Rows[i]}
		if f.Cards != nil {
			var about struct{ Description, Version string }
			if c, err := f.Cards(); err == nil && json.Unmarshal(c.Public(), &about) == nil {
				a.Does, a.Version = about.Description, about.Version
			}
		}
		all = append(all, a)
	}
	return all
}

// directory lists the cards of the agents. They are made at the first request: a
// start does not wait for signatures.
func directory(functions []host.Function) http.Handler {
	made := sync.OnceValues(func() (http.Handler, error) {
		var all []*card.Cards
		for _, f := range functions {
			if f.Cards == nil {
				continue
			}
			c, err := f.Cards()
			if err != nil {
				return nil, fmt.Errorf("function %s: %w", f.Name, err)
			}
			all = append(all, c)
		}
		return card.NewDirectory(all...)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, err := made()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// mount serves h at path and below it. h sees the rest of the path, "/" at
// least.
func mount(mux *http.ServeMux, path string, h http.Handler) {
	below := http.StripPrefix(path, h)
	mux.Handle(path+"/", below)
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		r2 := r.Clone(r.Context())
		r2.URL.Path, r2.URL.RawPath = "/", ""
		h.ServeHTTP(w, r2)
	})
}

// A tableView is what the pages know of the services and functions.
type tableView struct {
	Addresses
	Services []Service
	Rows     []functionView
}

type functionView struct {
	Name, Kind, URL, AgentURL, Topic string
}

func (h *Hub) view() tableView {
	v := tableView{Addresses: h.at, Services: h.services}
	for _, f := range h.functions {
		row := functionView{Name: f.Name, Kind: string(f.Kind), URL: h.at.FunctionsURL() + "/" + f.Name, Topic: f.Topic}
		if f.Kind == host.Agent {
			row.AgentURL = "http://" + h.at.Hosting + "/a2a/" + strings.TrimPrefix(f.Name, "a2a_")
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// page answers with a template. It renders before it writes, so that a page is
// whole or an error.
func page(t *template.Template, data func(*http.Request) any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b strings.Builder
		if err := t.Execute(&b, data(r)); err != nil {
			http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(b.String())) // the reader may be gone
	})
}
