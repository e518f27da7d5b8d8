package docstore

import (
	"context"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// stepDoc is the document of a step. Durations are whole milliseconds. What a
// claim does not know yet is not in the document.
type stepDoc struct {
	Status      string            `firestore:"st"`
	Call        string            `firestore:"call"`
	Agent       string            `firestore:"agent"`
	Try         int               `firestore:"try"`
	Takeovers   int               `firestore:"takeovers"`
	Fence       int               `firestore:"fence"`
	Owner       string            `firestore:"owner"`
	LeaseMS     int64             `firestore:"leaseMs"`
	Beats       int               `firestore:"beats,omitempty"`
	StartedAt   time.Time         `firestore:"startedAt"`
	RequestHash string            `firestore:"requestHash,omitempty"`
	Task        string            `firestore:"task,omitempty"`
	Context     string            `firestore:"context,omitempty"`
	Result      []byte            `firestore:"result,omitempty"`
	Encoding    string            `firestore:"resultEncoding,omitempty"`
	Blob        *blobRef          `firestore:"resultBlob,omitempty"`
	Failure     map[string]string `firestore:"failure,omitempty"`
	Score       int               `firestore:"score,omitempty"`
	Tokens      int               `firestore:"tokens,omitempty"`
	CostUSD     float64           `firestore:"costUsd,omitempty"`
	DurationMS  int64             `firestore:"durationMs,omitempty"`
	RevAt       int               `firestore:"revAt,omitempty"`
	Late        bool              `firestore:"late"`
	DoneAt      *time.Time        `firestore:"doneAt,omitempty"`
	ExpireAt    *time.Time        `firestore:"expireAt,omitempty"`
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
		Status: string(s.Status), Call: s.Call, Agent: s.Agent, Try: s.Try, Takeovers: s.Takeovers, Fence: s.Fence, Owner: s.Owner,
		LeaseMS: s.Lease.Milliseconds(), Beats: s.Beats, StartedAt: s.StartedAt, RequestHash: s.RequestHash,
		Task: s.Task, Context: s.Context, Result: result.Bytes, Encoding: result.Encoding, Blob: result.Blob,
		Score: s.Score, Tokens: s.Tokens, CostUSD: s.CostUSD, DurationMS: s.Duration.Milliseconds(),
		RevAt: s.RevAt, Late: s.Late, DoneAt: s.DoneAt, ExpireAt: expire,
	}
	if f := s.Failure; f != nil {
		d.Failure = map[string]string{"code": f.Code, "message": f.Message, "agent": f.Agent}
	}
	b.put(b.store.step(s.Run, s.ID), d, s.Version)
}

// loadStep decodes a step but for its result.
func loadStep(run string, doc *firestore.DocumentSnapshot) (runner.Step, payload, error) {
	var d stepDoc
	if err := doc.DataTo(&d); err != nil {
		return runner.Step{}, payload{}, err
	}
	s := runner.Step{
		Run: run, ID: engine.StepID(doc.Ref.ID), Status: runner.StepStatus(d.Status), Call: d.Call, Agent: d.Agent,
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
