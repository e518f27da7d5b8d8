package docstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Store keeps runs and estimates.
type Store struct {
	client          *firestore.Client
	runs, estimates *firestore.CollectionRef // made once: they are in every path
}

var (
	_ runner.Store  = (*Store)(nil)
	_ runner.Finder = (*Store)(nil)
)

// New returns a store on client, which stays the caller's to close.
func New(client *firestore.Client) *Store {
	return &Store{client, client.Collection("runs"), client.Collection("estimates")}
}

// Run implements runner.Store. One read.
func (s *Store) Run(ctx context.Context, id string) (runner.Run, error) {
	doc, err := s.run(id).Get(ctx)
	if err != nil {
		return runner.Run{}, rpcFault(err, "run %s", id)
	}
	return loadRun(doc)
}

// Input implements runner.Store. One read, and one per part where the input does
// not fit on the root of the estimate.
func (s *Store) Input(ctx context.Context, estimate string) (json.RawMessage, error) {
	doc, err := s.estimate(estimate).Get(ctx)
	if err != nil {
		return nil, rpcFault(err, "there is no estimate %s", estimate)
	}
	var d struct {
		Clarification any      `firestore:"clarificationOutput"`
		Encoding      string   `firestore:"clarificationOutputEncoding"`
		Blob          *blobRef `firestore:"clarificationOutputBlob"`
	}
	if err := doc.DataTo(&d); err != nil {
		return nil, fmt.Errorf("input of %s: %w", estimate, err)
	}
	if d.Blob != nil {
		return s.payload(ctx, doc.Ref, clarification, payload{Encoding: d.Encoding, Blob: d.Blob})
	}
	input, err := raw(d.Clarification, d.Encoding)
	if err != nil {
		return nil, fmt.Errorf("input of %s: %w", estimate, err)
	}
	return input, nil
}

// Flow implements runner.Store. One read.
func (s *Store) Flow(ctx context.Context, hash string) (*engine.Flow, error) {
	doc, err := s.flow(hash).Get(ctx)
	if err != nil {
		return nil, rpcFault(err, "flow %s", hash)
	}
	var d flowDoc
	if err := doc.DataTo(&d); err != nil {
		return nil, fmt.Errorf("flow %s: %w", hash, err)
	}
	b, err := unpack(d.Flow, d.Encoding)
	if err != nil {
		return nil, fmt.Errorf("flow %s: %w", hash, err)
	}
	var f engine.Flow
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("flow %s: %w", hash, err)
	}
	if f.Hash() != hash {
		// Either the bytes are damaged, or they hold members of a newer code, which
		// an instance of that code will understand.
		return nil, fault.New(fault.Unavailable, "flow %s is not what this code can read", hash)
	}
	return &f, nil
}

// flowDoc is the document of a flow.
type flowDoc struct {
	ID        string    `firestore:"id"`
	Flow      []byte    `firestore:"flow"`
	Encoding  string    `firestore:"flowEncoding"`
	CreatedAt time.Time `firestore:"createdAt,serverTimestamp"`
}

// PutFlow implements runner.Store. One write; none when the flow is there.
func (s *Store) PutFlow(ctx context.Context, f *engine.Flow) error {
	hash := f.Hash()
	b, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode flow %s: %w", f.ID, err)
	}
	d := flowDoc{ID: f.ID}
	if d.Flow, d.Encoding, err = pack(b); err != nil {
		return fmt.Errorf("flow %s: %w", f.ID, err)
	}
	if _, err := s.flow(hash).Create(ctx, d); err != nil {
		if err := rpcFault(err, "store flow %s", hash); fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
	return nil
}
