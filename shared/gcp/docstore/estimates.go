package docstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/iterator"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// Estimate returns the fields of estimates/{id}; fault.NotFound when there is
// none.
func (s *Store) Estimate(ctx context.Context, id string) (map[string]any, error) {
	doc, err := s.estimate(id).Get(ctx)
	if err != nil {
		return nil, rpcFault(err, "there is no estimate %s", id)
	}
	return doc.Data(), nil
}

// Items returns the documents of a sub-collection of an estimate, by id.
func (s *Store) Items(ctx context.Context, estimate, collection string) ([]json.RawMessage, error) {
	docs, err := s.estimate(estimate).Collection(collection).OrderBy(firestore.DocumentID, firestore.Asc).Documents(ctx).GetAll()
	if err != nil {
		return nil, rpcFault(err, "%s of %s", collection, estimate)
	}
	items := make([]json.RawMessage, len(docs))
	for i, doc := range docs {
		if items[i], err = json.Marshal(doc.Data()); err != nil {
			return nil, fmt.Errorf("encode %s: %w", doc.Ref.Path, err)
		}
	}
	return items, nil
}

// below are the collections of an estimate and of a run that Delete empties.
var (
	belowEstimate = []string{"agentOutputs", "costItems", "blobs", "reports"}
	belowRun      = []string{"steps", "shards", "inputs", "blobs"}
)

// Delete removes an estimate with everything that was made for it: runs and what
// is below them, the agents' tasks, outputs, items, idempotency keys. The status
// of its project is left, which may show another estimate. The estimate itself
// goes last, so that a delete that was interrupted can be asked for again.
func (s *Store) Delete(ctx context.Context, id string) error {
	runs, err := s.runs.Where("estimateId", "==", id).Select().Documents(ctx).GetAll()
	if err != nil {
		return rpcFault(err, "runs of %s", id)
	}
	for _, run := range runs {
		// What is below a run goes before it, or a delete that was interrupted
		// between the two would never find it again; and once more after it, for what
		// a worker in flight wrote meanwhile. Without a run it commits nothing.
		if err := s.deleteBelow(ctx, run.Ref, belowRun); err != nil {
			return err
		}
		if _, err := run.Ref.Delete(ctx); err != nil {
			return rpcFault(err, "delete run %s", run.Ref.ID)
		}
		if err := s.deleteBelow(ctx, run.Ref, belowRun); err != nil {
			return err
		}
	}
	if err := s.deleteBelow(ctx, s.estimate(id), belowEstimate); err != nil {
		return err
	}
	keys := s.client.Collection("idempotency").Where("estimateId", "==", id).Select().Documents(ctx)
	if err := s.deleteAll(ctx, keys, nil); err != nil {
		return err
	}
	if _, err := s.estimate(id).Delete(ctx); err != nil {
		return rpcFault(err, "delete estimate %s", id)
	}
	return nil
}

// deleteBelow empties collections of a document; with a step goes the task of
// its agent.
func (s *Store) deleteBelow(ctx context.Context, ref *firestore.DocumentRef, collections []string) error {
	for _, name := range collections {
		also, fields := s.tasksOf, []string{"record", "agent", "call", "resultBlob"}
		if name != "steps" {
			also, fields = nil, nil
		}
		if err := s.deleteAll(ctx, ref.Collection(name).Select(fields...).Documents(ctx), also); err != nil {
			return err
		}
	}
	return nil
}

// tasksOf lists the documents of the tasks that worked on a step, with their
// logs: of the call and of its repetition. One that was too large for its document made a step that is
// as well.
func (s *Store) tasksOf(ctx context.Context, step *firestore.DocumentSnapshot) ([]*firestore.DocumentRef, error) {
	d, err := readStep(step)
	if err != nil {
		return nil, fmt.Errorf("step %s: %w", step.Ref.Path, err)
	}
	var refs []*firestore.DocumentRef
	for _, call := range []string{d.Call, runner.RepeatID(step.Ref.Parent.Parent.ID, engine.StepID(step.Ref.ID))} {
		id, ok := a2a.TaskID(d.Agent, call)
		if !ok || d.Agent == "" {
			continue
		}
		task := NewTasks(s.client).ref(d.Agent, id)
		refs = append(refs, task)
		below := []string{"events"}
		if d.Blob != nil {
			below = append(below, "blobs")
		}
		for _, name := range below {
			docs, err := task.Collection(name).Select().Documents(ctx).GetAll()
			if err != nil {
				return nil, rpcFault(err, "%s of task %s", name, id)
			}
			for _, doc := range docs {
				refs = append(refs, doc.Ref)
			}
		}
	}
	return refs, nil
}

// deleteAll deletes what docs finds and, for each, what also names.
func (s *Store) deleteAll(
	ctx context.Context, docs *firestore.DocumentIterator,
	also func(context.Context, *firestore.DocumentSnapshot) ([]*firestore.DocumentRef, error),
) error {
	defer docs.Stop()
	var refs []*firestore.DocumentRef
	for {
		doc, err := docs.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			return rpcFault(err, "list documents to delete")
		}
		if also != nil {
			more, err := also(ctx, doc)
			if err != nil {
				return err
			}
			refs = append(refs, more...)
		}
		refs = append(refs, doc.Ref)
	}
	for len(refs) > 0 {
		n := min(len(refs), maxCommitWrites)
		b := s.client.Batch() //nolint:staticcheck // see batch
		for _, ref := range refs[:n] {
			b.Delete(ref)
		}
		if _, err := b.Commit(ctx); err != nil {
			return rpcFault(err, "delete documents")
		}
		refs = refs[n:]
	}
	return nil
}
