package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// incidental are the members that differ between two runs of the same input
// although all is well: who worked and how long, and the hash and the size of
// what carries a stamp (a stamp leaves out the zeros at its end).
var incidental = []string{"owner", "durationMs", "duration_ms", "beats", "requestHash", "hash", "shown"}

var stamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`)

// A picture is what a store holds of an estimate, by path of the document, with
// its id, its stamps and all that is incidental left out.
type picture map[string]any

// shown pictures what frontends see of an estimate.
func (s *system) shown(t *testing.T, id string) picture {
	t.Helper()
	p := picture{}
	at := "estimates/" + id
	p.add(t, id, at, s.get(t, at))
	for _, collection := range []string{"agentOutputs", "costItems"} {
		for name, doc := range s.list(t, at+"/"+collection) {
			p.add(t, id, at+"/"+collection+"/"+name, doc)
		}
	}
	return p
}

// stored pictures all that is stored: what frontends see, the run with its
// steps, and every task of every agent. The system has had no other estimate.
func (s *system) stored(t *testing.T, id string) picture {
	t.Helper()
	p := s.shown(t, id)
	for run, doc := range s.list(t, "runs") {
		p.add(t, id, "runs/"+run, doc)
		for name, step := range s.list(t, "runs/"+run+"/steps") {
			p.add(t, id, "runs/"+run+"/steps/"+name, step)
		}
	}
	for name, task := range s.list(t, "tasks") {
		p.add(t, id, "tasks/"+name, task)
	}
	return p
}

func (p picture) add(t *testing.T, id, path string, doc version) {
	t.Helper()
	p[strings.ReplaceAll(path, id, "ID")] = strip(t, id, map[string]any(doc))
}

func strip(t *testing.T, id string, value any) any {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, member := range v {
			if !slices.Contains(incidental, name) {
				m[name] = strip(t, id, member)
			}
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = strip(t, id, element)
		}
		return list
	case time.Time:
		return "STAMP"
	case string:
		if stamp.MatchString(v) {
			return "STAMP"
		}
		return strings.ReplaceAll(v, id, "ID")
	case []byte:
		return strip(t, id, decoded(t, v))
	default:
		return v
	}
}

// visible returns what readers see in a picture, without the count of events: a
// call that was tried again is an event more.
func (p picture) visible() picture {
	seen := picture{}
	for at, doc := range p {
		if strings.HasPrefix(at, "estimates/") {
			seen[at] = doc
		}
	}
	root := maps.Clone(seen["estimates/ID"].(map[string]any))
	status := maps.Clone(root["pipelineStatus"].(map[string]any))
	delete(status, "rev")
	root["pipelineStatus"], seen["estimates/ID"] = status, root
	return seen
}

// decoded returns the JSON that a payload is, packed or not.
func decoded(t *testing.T, b []byte) any {
	t.Helper()
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if b, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if len(b) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // digit by digit
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("a payload is no JSON: %v", err)
	}
	return v
}

// unpacked returns the JSON of a field: the state of a run, the record of a step.
func unpacked(t *testing.T, doc version, field string) map[string]any {
	t.Helper()
	packed, _ := doc[field].([]byte)
	m, _ := decoded(t, packed).(map[string]any)
	return m
}

// same fails the test where two pictures differ.
func same(t *testing.T, what string, want, got picture) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%.6000s", what, diff)
	}
}
