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

// stepDoc is the document of a step of an older run. Durations are whole
// milliseconds. What a claim does not know yet is not in the document.
type stepDoc struct {
	Schema      int               `firestore:"-" json:"schema,omitempty"`
	Status      string            `firestore:"st" json:"st"`
	Call        string            `firestore:"call" json:"call,omitempty"`
	Agent       string            `firestore:"agent" json:"agent,omitempty"`
	Try         int               `firestore:"try" json:"try,omitempty"`
	Takeovers   int               `firestore:"takeovers" json:"takeovers,omitempty"`
	Fence       int               `firestore:"fence" json:"fence,omitempty"`
	Owner       string            `firestore:"owner" json:"owner,omitempty"`
	LeaseMS     int64             `firestore:"leaseMs" json:"leaseMs,omitempty"`
	Beats       int               `firestore:"beats,omitempty" json:"beats,omitempty"`
	StartedAt   time.Time         `firestore:"startedAt" json:"startedAt,omitzero"`
	RequestHash string            `firestore:"requestHash,omitempty" json:"requestHash,omitempty"`
	Task        string            `firestore:"task,omitempty" json:"task,omitempty"`
	Context     string            `firestore:"context,omitempty" json:"context,omitempty"`
	Result      []byte            `firestore:"result,omitempty" json:"-"`
	Encoding    string            `firestore:"resultEncoding,omitempty" json:"resultEncoding,omitempty"`
	Blob        *blobRef          `firestore:"resultBlob,omitempty" json:"resultBlob,omitempty"`
	Failure     map[string]string `firestore:"failure,omitempty" json:"failure,omitempty"`
	Score       int               `firestore:"score,omitempty" json:"score,omitempty"`
	Tokens      int               `firestore:"tokens,omitempty" json:"tokens,omitempty"`
	CostUSD     float64           `firestore:"costUsd,omitempty" json:"costUsd,omitempty"`
	DurationMS  int64             `firestore:"durationMs,omitempty" json:"durationMs,omitempty"`
	RevAt       int               `firestore:"revAt,omitempty" json:"revAt,omitempty"`
	Late        bool              `firestore:"late" json:"late,omitempty"`
	DoneAt      *time.Time        `firestore:"doneAt,omitempty" json:"doneAt,omitempty"`
	ExpireAt    *time.Time        `firestore:"expireAt,omitempty" json:"-"`
}

// packedStep is the document of a step. Record is a stepDoc as JSON, which has all
// but the result and says how that is encoded.
type packedStep struct {
	Record   []byte     `firestore:"record"`
	Result   []byte     `firestore:"result,omitempty"`
	ExpireAt *time.Time `firestore:"expireAt,omitempty"`
}

// stepBlob names the blob of a step's result, beside the run.
func stepBlob(id engine.StepID) string { return "step~" + string(id) }

// Steps implements runner.Store. One read per id, and one per part of a result
// that does not fit into its step.
func (s *Store) Steps(ctx context.Context, run string, ids ...engine.StepID) ([]runner.Step, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	refs := make([]*firestore.DocumentRef, len(ids))
	for i, id := range ids {
		refs[i] = s.step(run, id)
	}
	docs, err := s.client.GetAll(ctx, refs)
	if err != nil {
		return nil, rpcFault(err, "steps of %s", run)
	}
	var steps []runner.Step
	for _, doc := range docs {
		if !doc.Exists() {
			continue
		}
		step, held, err := loadStep(run, doc)
		if err == nil {
			step.Result, err = s.payload(ctx, s.run(run), stepBlob(step.ID), held)
		}
		if err != nil {
			return nil, fmt.Errorf("step %s of %s: %w", doc.Ref.ID, run, err)
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// PutStep implements runner.Store. One write, and one per part of a result that
// does not fit into it.
func (s *Store) PutStep(ctx context.Context, step runner.Step) (runner.Step, error) {
	b := s.batch()
	b.putStep(&step)
	results, err := b.commit(ctx)
	if err != nil {
		return step, fmt.Errorf("step %s of %s: %w", step.ID, step.Run, err)
	}
	step.Version = results[0].UpdateTime
	return step, nil
}

func (b *batch) putStep(s *runner.Step) {
	recorded := s.StartedAt
	if s.DoneAt != nil {
		recorded = *s.DoneAt
	}
	expire := expiry(recorded)
	result := b.hold(b.store.run(s.Run), stepBlob(s.ID), s.Result, maxPayload, expire, false)
	d := stepDoc{
		Schema: s.Schema, Status: string(s.Status), Call: s.Call, Agent: s.Agent, Try: s.Try, Takeovers: s.Takeovers, Fence: s.Fence, Owner: s.Owner,
		LeaseMS: s.Lease.Milliseconds(), Beats: s.Beats, StartedAt: s.StartedAt, RequestHash: s.RequestHash,
		Task: s.Task, Context: s.Context, Result: result.Bytes, Encoding: result.Encoding, Blob: result.Blob,
		Score: s.Score, Tokens: s.Tokens, CostUSD: s.CostUSD, DurationMS: s.Duration.Milliseconds(),
		RevAt: s.RevAt, Late: s.Late, DoneAt: s.DoneAt, ExpireAt: expire,
	}
	if f := s.Failure; f != nil {
		d.Failure = map[string]string{"code": f.Code, "message": f.Message, "agent": f.Agent}
	}
	if s.Schema < packedSchema {
		b.put(b.store.step(s.Run, s.ID), d, s.Version)
		return
	}
	record, err := json.Marshal(d)
	if !b.fail(err) {
		b.put(b.store.step(s.Run, s.ID), packedStep{record, d.Result, d.ExpireAt}, s.Version)
	}
}

// readStep decodes the document of a step, of either kind.
func readStep(doc *firestore.DocumentSnapshot) (d stepDoc, err error) {
	var p packedStep
	if err = doc.DataTo(&p); err != nil {
		return d, err
	}
	if p.Record == nil {
		err = doc.DataTo(&d)
		return d, err
	}
	err = json.Unmarshal(p.Record, &d)
	d.Result = p.Result
	return d, err
}

// loadStep decodes a step but for its result.
func loadStep(run string, doc *firestore.DocumentSnapshot) (runner.Step, payload, error) {
	d, err := readStep(doc)
	if err != nil {
		return runner.Step{}, payload{}, err
	}
	s := runner.Step{
		Run: run, Schema: d.Schema, ID: engine.StepID(doc.Ref.ID), Status: runner.StepStatus(d.Status), Call: d.Call, Agent: d.Agent,
		Try: d.Try, Takeovers: d.Takeovers, Fence: d.Fence, Owner: d.Owner, Lease: time.Duration(d.LeaseMS) * time.Millisecond, Beats: d.Beats,
		StartedAt: d.StartedAt, RequestHash: d.RequestHash, Task: d.Task, Context: d.Context,
		Score: d.Score, Tokens: d.Tokens, CostUSD: d.CostUSD, Duration: time.Duration(d.DurationMS) * time.Millisecond,
		RevAt: d.RevAt, Late: d.Late, DoneAt: d.DoneAt, Version: doc.UpdateTime, ReadAt: doc.ReadTime,
	}
	if f := d.Failure; f != nil {
		s.Failure = &engine.Error{Code: f["code"], Message: f["message"], Agent: f["agent"]}
	}
	return s, payload{d.Result, d.Encoding, d.Blob}, nil
}
