package docstore

import (
	"context"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// Room in the document of an input, in packed bytes.
const (
	answerRoom = 600 << 10
	schemaRoom = 200 << 10
)

// inputDoc is the document of a question and its answer.
type inputDoc struct {
	Node           string     `firestore:"node"`
	Kind           string     `firestore:"kind"`
	Prompt         string     `firestore:"prompt"`
	Schema         []byte     `firestore:"schema"`
	SchemaEncoding string     `firestore:"schemaEncoding"`
	SchemaBlob     *blobRef   `firestore:"schemaBlob"`
	AskedAt        time.Time  `firestore:"askedAt"`
	ExpiresAt      time.Time  `firestore:"expiresAt"` // of the question
	Task           string     `firestore:"task"`
	Context        string     `firestore:"context"`
	Decision       string     `firestore:"decision"`
	Answer         []byte     `firestore:"answer"`
	AnswerEncoding string     `firestore:"answerEncoding"`
	AnswerBlob     *blobRef   `firestore:"answerBlob"`
	AnsweredBy     string     `firestore:"answeredBy"`
	AnsweredAt     *time.Time `firestore:"answeredAt"`
	RevAt          int        `firestore:"revAt"`
	ExpireAt       *time.Time `firestore:"expireAt"` // of the document
}

func schemaBlob(id string) string { return "schema~" + id }
func answerBlob(id string) string { return "answer~" + id }

// Inputs implements runner.Store. One read per id, and one per part of an answer
// that does not fit into it.
func (s *Store) Inputs(ctx context.Context, run string, ids ...string) ([]runner.Input, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	refs := make([]*firestore.DocumentRef, len(ids))
	for i, id := range ids {
		refs[i] = s.input(run, id)
	}
	docs, err := s.client.GetAll(ctx, refs)
	if err != nil {
		return nil, rpcFault(err, "inputs of %s", run)
	}
	return s.loadInputs(ctx, run, docs)
}

func (s *Store) loadInputs(ctx context.Context, run string, docs []*firestore.DocumentSnapshot) ([]runner.Input, error) {
	var inputs []runner.Input
	for _, doc := range docs {
		if !doc.Exists() {
			continue
		}
		in, err := s.loadInput(ctx, run, doc)
		if err != nil {
			return nil, fmt.Errorf("input %s of %s: %w", doc.Ref.ID, run, err)
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

func (s *Store) loadInput(ctx context.Context, run string, doc *firestore.DocumentSnapshot) (runner.Input, error) {
	var d inputDoc
	if err := doc.DataTo(&d); err != nil {
		return runner.Input{}, err
	}
	in := runner.Input{
		Run: run, ID: doc.Ref.ID, Node: d.Node, Kind: d.Kind, Prompt: d.Prompt, AskedAt: d.AskedAt, ExpiresAt: d.ExpiresAt,
		Task: d.Task, Context: d.Context, Decision: engine.Decision(d.Decision), AnsweredBy: d.AnsweredBy, AnsweredAt: d.AnsweredAt,
		RevAt: d.RevAt, Version: doc.UpdateTime,
	}
	var err error
	if in.Schema, err = s.payload(ctx, s.run(run), schemaBlob(in.ID), payload{d.Schema, d.SchemaEncoding, d.SchemaBlob}); err != nil {
		return in, err
	}
	in.Answer, err = s.payload(ctx, s.run(run), answerBlob(in.ID), payload{d.Answer, d.AnswerEncoding, d.AnswerBlob})
	return in, err
}

func (b *batch) putInput(in *runner.Input) {
	recorded := in.AskedAt
	if in.AnsweredAt != nil && in.AnsweredAt.After(recorded) {
		recorded = *in.AnsweredAt
	}
	run, expire := b.store.run(in.Run), expiry(recorded)
	schema := b.hold(run, schemaBlob(in.ID), in.Schema, schemaRoom, expire, false)
	answer := b.hold(run, answerBlob(in.ID), in.Answer, answerRoom, expire, false)
	b.put(b.store.input(in.Run, in.ID), inputDoc{
		Node: in.Node, Kind: in.Kind, Prompt: in.Prompt, AskedAt: in.AskedAt, ExpiresAt: in.ExpiresAt,
		Schema: schema.Bytes, SchemaEncoding: schema.Encoding, SchemaBlob: schema.Blob,
		Task: in.Task, Context: in.Context, Decision: string(in.Decision),
		Answer: answer.Bytes, AnswerEncoding: answer.Encoding, AnswerBlob: answer.Blob,
		AnsweredBy: in.AnsweredBy, AnsweredAt: in.AnsweredAt, RevAt: in.RevAt, ExpireAt: expire,
	}, in.Version)
}
