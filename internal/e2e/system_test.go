package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"github.com/sethvargo/go-envconfig"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"truecost.dev/emulator/hub"
	"truecost.dev/emulator/local"
	"truecost.dev/shared/callable"
	"truecost.dev/shared/estimate"
)

const (
	project = "truecost"
	region  = "us-central1"

	// patience is how long anything may take on a crowded machine. Only a defect
	// needs it all.
	patience = 3 * time.Minute

	inputs = "../../testdata"
)

// A system is a local system with what a frontend has of it.
type system struct {
	*local.System
	callable.Client
	db *firestore.Client
}

// unhurried keeps a slow machine from being taken for a dead worker.
var unhurried = envconfig.MapLookuper(map[string]string{
	"TRUECOST_AGENT_TIMEOUT": patience.String(), "TRUECOST_STEP_LEASE": patience.String(),
})

// start starts a system on free ports that ends with the test.
func start(t *testing.T, c hub.Config, env map[string]string) *system {
	t.Helper()
	c.Project, c.Region = project, region
	running, err := local.Start(t.Context(), c, envconfig.MultiLookuper(envconfig.MapLookuper(env), unhurried))
	if err != nil {
		t.Fatalf("start a local system: %v", err)
	}
	s := &system{System: running}
	t.Cleanup(func() { // t.Context is over by now
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := running.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	s.Client = callable.Client{BaseURL: running.Addresses().FunctionsURL(), HTTP: &http.Client{Timeout: patience}}
	s.db = connect(t, running.Addresses().Firestore)
	return s
}

// connect returns a client of the Firestore server at address.
func connect(t *testing.T, address string) *firestore.Client {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	db, err := firestore.NewClient(t.Context(), project, option.WithGRPCConn(conn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// input reads a document of the input contract: input(t, "kitchen").
func input(t *testing.T, name string) json.RawMessage {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(inputs, filepath.FromSlash(name)+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// begin calls start_deep_pipeline.
func (s *system) begin(t *testing.T, id string, clarification json.RawMessage) {
	t.Helper()
	data := map[string]any{"estimateId": id, "clarificationOutput": clarification}
	var answer struct {
		Success bool `json:"success"`
		Data    struct {
			ID     string `json:"estimateId"`
			Status string `json:"status"`
		} `json:"data"`
	}
	if err := s.Call(t.Context(), "start_deep_pipeline", data, &answer); err != nil {
		t.Fatalf("start %s: %v", id, err)
	}
	if !answer.Success || answer.Data.ID != id || answer.Data.Status != "processing" {
		t.Fatalf("start %s answers %+v, want success, the id and processing", id, answer)
	}
}

// A version is one state of a document, by field.
type version map[string]any

// at returns the value at a path of names, nil where there is none.
func (v version) at(path string) any {
	var value any = map[string]any(v)
	for name := range strings.SplitSeq(path, ".") {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[name]
	}
	return value
}

// watch listens to a document until done, and returns every version it was
// shown. A document that is not there is an empty version.
func (s *system) watch(t *testing.T, path string, done func(version) bool) []version {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	snapshots := s.db.Doc(path).Snapshots(ctx)
	defer snapshots.Stop()
	var seen []version
	for {
		doc, err := snapshots.Next()
		if err != nil {
			last, _ := json.MarshalIndent(seen[max(0, len(seen)-1):], "", "  ")
			t.Fatalf("watch %s: %v\nthe last version was %.4000s", path, err, last)
		}
		seen = append(seen, doc.Data())
		if done(doc.Data()) {
			return seen
		}
	}
}

// end waits until a run has ended and returns the versions of its estimate.
func (s *system) end(t *testing.T, id, status string) []version {
	t.Helper()
	seen := s.watch(t, "estimates/"+id, func(v version) bool {
		return len(v) > 0 && v["status"] != "processing"
	})
	if last := seen[len(seen)-1]; last["status"] != status {
		t.Fatalf("%s ended as %v, want %s: %v", id, last["status"], status, last["error"])
	}
	return seen
}

// completed waits until an agent's output has passed.
func completed(agent string) func(version) bool {
	return func(v version) bool {
		list, _ := v.at("pipelineStatus.completedAgents").([]any)
		for _, name := range list {
			if name == agent {
				return true
			}
		}
		return false
	}
}

// settle waits until every message has been delivered as often as it will be.
func (s *system) settle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.PubSub().Idle(ctx); err != nil {
		t.Fatal(err)
	}
}

// get reads a document that must be there.
func (s *system) get(t *testing.T, path string) version {
	t.Helper()
	doc, err := s.db.Doc(path).Get(t.Context())
	if err != nil {
		t.Fatalf("get %s: %v", path, err)
	}
	return doc.Data()
}

// list reads a collection, by document id.
func (s *system) list(t *testing.T, path string) map[string]version {
	t.Helper()
	docs, err := s.db.Collection(path).Documents(t.Context()).GetAll()
	if err != nil {
		t.Fatalf("list %s: %v", path, err)
	}
	all := make(map[string]version, len(docs))
	for _, doc := range docs {
		all[doc.Ref.ID] = doc.Data()
	}
	return all
}

// steps lists the steps of a run that needs no retry, in the order they happen.
func steps() []string {
	var ids []string
	for _, agent := range estimate.Agents {
		ids = append(ids, agent+".0.p", agent+".0.s")
	}
	return ids
}
