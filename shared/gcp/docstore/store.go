package docstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/iterator"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Store keeps runs and estimates.
type Store struct {
	client *firestore.Client
}

var (
	_ runner.Store  = (*Store)(nil)
	_ runner.Finder = (*Store)(nil)
)

// New returns a store on client, which stays the caller's to close.
func New(client *firestore.Client) *Store { return &Store{client} }

func (s *Store) run(id string) *firestore.DocumentRef { return s.client.Collection("runs").Doc(id) }

func (s *Store) step(run string, id engine.StepID) *firestore.DocumentRef {
	return s.run(run).Collection("steps").Doc(string(id))
}

func (s *Store) estimate(id string) *firestore.DocumentRef {
	return s.client.Collection("estimates").Doc(id)
}

// Run implements runner.Store.
func (s *Store) Run(ctx context.Context, id string) (runner.Run, error) {
	doc, err := s.run(id).Get(ctx)
	if err != nil {
		return runner.Run{}, rpcFault(err, "run %s", id)
	}
	var r runner.Run
	if err := load(doc.Data(), &r.State); err != nil {
		return runner.Run{}, fmt.Errorf("run %s: %w", id, err)
	}
	r.Version = doc.UpdateTime
	return r, nil
}

// Steps implements runner.Store.
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
	for i, doc := range docs {
		if !doc.Exists() {
			continue
		}
		step, err := loadStep(doc)
		if err != nil {
			return nil, fmt.Errorf("step %s of %s: %w", ids[i], run, err)
		}
		step.Run, step.ID = run, ids[i]
		steps = append(steps, step)
	}
	return steps, nil
}

// Inputs implements runner.Store.
func (s *Store) Inputs(ctx context.Context, estimate string, nodes []string) (map[string]json.RawMessage, error) {
	refs := []*firestore.DocumentRef{s.estimate(estimate)}
	for _, node := range nodes {
		refs = append(refs, s.estimate(estimate).Collection("agentOutputs").Doc(node))
	}
	docs, err := s.client.GetAll(ctx, refs)
	if err != nil {
		return nil, rpcFault(err, "inputs of %s", estimate)
	}
	if !docs[0].Exists() {
		return nil, fault.New(fault.NotFound, "there is no estimate %s", estimate)
	}
	inputs := make(map[string]json.RawMessage, len(docs))
	data := docs[0].Data()
	if inputs["clarification_output"], err = raw(data["clarificationOutput"], data["clarificationOutputEncoding"]); err != nil {
		return nil, err
	}
	for i, doc := range docs[1:] {
		if !doc.Exists() {
			continue
		}
		var out outputDoc
		if err := doc.DataTo(&out); err != nil {
			return nil, fmt.Errorf("output of %s: %w", nodes[i], err)
		}
		if inputs[nodes[i]+"_output"], err = out.json(); err != nil {
			return nil, fmt.Errorf("output of %s: %w", nodes[i], err)
		}
	}
	return inputs, nil
}

// PutStep implements runner.Store.
func (s *Store) PutStep(ctx context.Context, step runner.Step) (runner.Step, error) {
	data, err := stepFields(&step)
	if err != nil {
		return step, err
	}
	ref := s.step(step.Run, step.ID)
	var result *firestore.WriteResult
	if step.Version.IsZero() {
		result, err = ref.Create(ctx, data)
	} else {
		result, err = ref.Update(ctx, updates(data), firestore.LastUpdateTime(step.Version))
	}
	if err != nil {
		return step, rpcFault(err, "step %s of %s", step.ID, step.Run)
	}
	step.Version = result.UpdateTime
	return step, nil
}

// Due implements runner.Finder.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) ([]string, error) {
	docs := s.client.Collection("runs").
		Where("status", "==", string(engine.Running)).Where("wakeAt", "<=", now).
		OrderBy("wakeAt", firestore.Asc).Limit(limit).Select().Documents(ctx)
	defer docs.Stop()
	var ids []string
	for {
		doc, err := docs.Next()
		if errors.Is(err, iterator.Done) {
			return ids, nil
		}
		if err != nil {
			return nil, rpcFault(err, "due runs")
		}
		ids = append(ids, doc.Ref.ID)
	}
}

// rpcFault gives an error of the client its kind.
func rpcFault(err error, format string, args ...any) error {
	kind := fault.Internal
	switch status.Code(err) {
	case codes.NotFound:
		kind = fault.NotFound
	case codes.AlreadyExists, codes.FailedPrecondition, codes.Aborted:
		kind = fault.Conflict
	case codes.InvalidArgument, codes.OutOfRange:
		kind = fault.Invalid
	case codes.PermissionDenied, codes.Unauthenticated:
		kind = fault.Denied
	case codes.ResourceExhausted:
		kind = fault.Exhausted
	case codes.Unavailable:
		kind = fault.Unavailable
	case codes.DeadlineExceeded:
		kind = fault.Timeout
	case codes.Canceled:
		kind = fault.Canceled
	default:
		if k := fault.KindOf(err); k != fault.Internal {
			kind = k
		}
	}
	return fault.Wrap(kind, err, format, args...)
}
