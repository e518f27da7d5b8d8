package docstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// Room in a document of agentOutputs, in bytes: as a map that frontends read, or
// packed.
const (
	outputMap    = 200 << 10
	outputPacked = 800 << 10
)

// outputDoc is a document of agentOutputs. Output is a map where Firestore can
// hold it, else packed JSON, else a reference to a blob of the estimate.
type outputDoc struct {
	Agent       string    `firestore:"agentName"`
	Status      string    `firestore:"status"` // complete, needs_review or error, as the UI expects
	Output      any       `firestore:"output"`
	Packed      []byte    `firestore:"outputBytes,omitempty"`
	Blob        *blobRef  `firestore:"outputBlob,omitempty"`
	Encoding    string    `firestore:"outputEncoding"` // "", json, gzip
	Summary     any       `firestore:"summary"`        // text, nil where an output has none
	Confidence  any       `firestore:"confidence"`
	Score       int       `firestore:"score"`
	Attempt     int       `firestore:"attempt"`
	Tokens      int       `firestore:"tokensUsed"`
	DurationMS  int64     `firestore:"durationMs"`
	StartedAt   time.Time `firestore:"startedAt"`
	CompletedAt time.Time `firestore:"completedAt"`
	CreatedAt   time.Time `firestore:"createdAt"`
	UpdatedAt   time.Time `firestore:"updatedAt"`
}

func outputBlob(node string) string { return "output~" + node }

func (b *batch) putOutput(estimate string, o *runner.Output) {
	d := outputDoc{
		Agent: o.Node, Status: "complete", Score: o.Score, Attempt: o.Attempt, Tokens: o.Tokens,
		DurationMS: o.Duration.Milliseconds(), StartedAt: o.StartedAt, CompletedAt: o.DoneAt, CreatedAt: o.DoneAt, UpdatedAt: o.DoneAt,
	}
	switch o.Phase {
	case engine.NodeFailed:
		d.Status = "error"
	case engine.Waiting:
		d.Status = "needs_review"
	default:
	}
	v, encoding, err := visible(o.Data)
	if b.fail(err) {
		return
	}
	if m, ok := v.(map[string]any); ok {
		d.Confidence, d.Summary = m["confidence"], m["summary"]
		if prose, ok := m["summary"].(map[string]any); ok {
			d.Summary = prose["headline"] // the cost agent's summary has parts
		}
		if size(d.Summary)+size(d.Confidence) > maxFeedback {
			d.Confidence, d.Summary = nil, nil
		}
	}
	d.Output, d.Encoding = v, encoding
	if encoding != "" || size(v) > outputMap {
		p := b.hold(b.store.estimate(estimate), outputBlob(o.Node), o.Data, outputPacked, expiry(o.DoneAt), true)
		d.Output, d.Packed, d.Encoding, d.Blob = nil, p.Bytes, p.Encoding, p.Blob
	}
	b.writes.Set(b.store.output(estimate, o.Node), d)
}

// putRootOutput puts {node}Output on the root of the estimate, or, where there
// is no room for it, where to find it. It returns how many bytes that takes.
func (b *batch) putRootOutput(root map[string]any, o *runner.Output, room int) int {
	v, encoding, err := visible(o.Data)
	if b.fail(err) {
		return 0
	}
	if size(v) > room {
		v, encoding = map[string]any{"truncated": true, "document": "agentOutputs/" + o.Node}, ""
	}
	root[o.Node+"Output"] = v
	root[o.Node+"OutputEncoding"] = firestore.Delete // of an output before
	if encoding != "" {
		root[o.Node+"OutputEncoding"] = encoding
	}
	return size(v)
}

// Output returns the visible output of a node as it was written; fault.NotFound
// when there is none. One read, and one per part of a blob.
func (s *Store) Output(ctx context.Context, estimate, node string) (json.RawMessage, error) {
	doc, err := s.output(estimate, node).Get(ctx)
	if err != nil {
		return nil, rpcFault(err, "there is no output of %s in %s", node, estimate)
	}
	var d outputDoc
	if err := doc.DataTo(&d); err != nil {
		return nil, fmt.Errorf("output of %s in %s: %w", node, estimate, err)
	}
	if d.Packed != nil || d.Blob != nil {
		return s.payload(ctx, s.estimate(estimate), outputBlob(node), payload{d.Packed, d.Encoding, d.Blob})
	}
	return raw(d.Output, d.Encoding)
}
