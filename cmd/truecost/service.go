package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/fault"
)

// Budgets of single requests. A whole estimate has none: it is watched as long
// as it runs.
const (
	lookTimeout = 2 * time.Second  // is there a local system?
	callTimeout = 30 * time.Second // a callable answers before any agent runs
	workTimeout = 5 * time.Minute  // an agent at work
)

// localFirestore is where the emulators of the Firebase suite serve Firestore.
const localFirestore = "127.0.0.1:8080"

// endpoints say where the services are.
type endpoints struct {
	Functions string // base address: the name of a function is appended to it
	Firestore string // host:port of an emulator; empty is the real service
	Project   string
}

// service is a TrueCost that answers.
type service struct {
	endpoints
	http *http.Client
	own  bool // started by this command, and ends with it
	stop func()
}

// connect finds the service: where -url says; else the local system that runs;
// else, when start is set, one started in this process. The caller stops it.
func (c *call) connect(ctx context.Context, start bool) (*service, error) {
	s := &service{http: &http.Client{}, stop: func() {}}
	local, lookErr := c.look(ctx, s.http)
	switch {
	case c.url != "":
		s.endpoints = endpoints{Functions: c.url}
		switch {
		case lookErr == nil && (isLoopback(c.url) || sameHost(c.url, local.Functions)):
			s.Firestore = local.Firestore
		case isLoopback(c.url):
			s.Firestore = localFirestore
		}
	case lookErr == nil:
		s.endpoints = local
	case start && c.startLocal != nil && ctx.Err() == nil:
		at, stop, err := c.startLocal(ctx)
		if err != nil {
			return nil, fmt.Errorf("start a local system: %w", err)
		}
		s.endpoints, s.stop, s.own = at, stop, true
		return s, nil
	default:
		return nil, fault.Wrap(fault.Unavailable, lookErr,
			"no local system answers at %s: start one with go run ./emulator, or say where the service is with -url", c.inspector)
	}
	if c.firestore != "" {
		s.Firestore = c.firestore
	}
	if c.project != "" {
		s.Project = c.project
	}
	if s.Project == "" {
		s.Project = projectOf(s.Functions)
	}
	return s, nil
}

// look asks the inspector of a local system what runs where.
func (c *call) look(ctx context.Context, client *http.Client) (endpoints, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var health struct {
		Services map[string]string `json:"services"` // host:port by name
		Project  string            `json:"project"`
		Region   string            `json:"region"`
	}
	if err := getJSON(ctx, client, strings.TrimSuffix(c.inspector, "/")+"/healthz", &health); err != nil {
		return endpoints{}, err
	}
	functions, firestore := health.Services["functions"], health.Services["firestore"]
	if functions == "" || firestore == "" || health.Project == "" || health.Region == "" {
		return endpoints{}, fault.New(fault.Unavailable, "%s does not say where functions and firestore are", c.inspector)
	}
	return endpoints{
		Functions: "http://" + functions + "/" + health.Project + "/" + health.Region,
		Firestore: firestore, Project: health.Project,
	}, nil
}

// getJSON fetches a JSON document. Every failure is a *fault.Error.
func getJSON(ctx context.Context, client *http.Client, address string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "the address %q cannot be read", address)
	}
	resp, err := client.Do(r)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "%s does not answer", address)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return fault.New(fault.NotFound, "%s: not found", address)
	case resp.StatusCode != http.StatusOK:
		return fault.New(fault.Unavailable, "%s: HTTP %d", address, resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(into); err != nil {
		return fault.Wrap(fault.Unavailable, err, "%s does not answer with JSON", address)
	}
	return nil
}

// callables is the client of the callable functions.
func (s *service) callables(token string) *callable.Client {
	return &callable.Client{BaseURL: s.Functions, HTTP: s.http, Token: token}
}

// hostOf returns host:port of an address with or without a scheme.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

func sameHost(a, b string) bool { return hostOf(a) == hostOf(b) }

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(hostOf(address))
	if err != nil {
		host = hostOf(address)
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// projectOf reads the project from an address of the local form,
// http://host/{project}/{region}, or of the cloud's,
// https://{region}-{project}.cloudfunctions.net.
func projectOf(functions string) string {
	u, err := url.Parse(functions)
	if err != nil {
		return "truecost"
	}
	if host, cloud := strings.CutSuffix(u.Hostname(), ".cloudfunctions.net"); cloud {
		// A region is continent-area: us-central1-my-project.
		if words := strings.SplitN(host, "-", 3); len(words) == 3 {
			return words[2]
		}
	}
	if parts := strings.Split(strings.Trim(u.Path, "/"), "/"); len(parts) == 2 {
		return parts[0]
	}
	return "truecost"
}
