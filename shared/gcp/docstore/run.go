package docstore

import (
	"encoding/json"
	"fmt"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/runner"
)

// packedSchema is the first schema whose documents hold a run and its steps as
// bytes of JSON, beside the fields that queries ask for. Each member of the JSON
// had a field of its own before.
const packedSchema = 3

// putRun writes a run: creates it, or replaces what can change of the version
// that was read.
func (b *batch) putRun(r *runner.Run) {
	ref := b.store.run(r.RunID())
	m, err := runFields(r)
	switch {
	case b.fail(err):
	case r.Version.IsZero():
		b.writes.Create(ref, m)
	default:
		for _, name := range unchanging(r) {
			delete(m, name)
		}
		for _, name := range vanishing(r) {
			if _, ok := m[name]; !ok {
				m[name] = firestore.Delete
			}
		}
		b.writes.Update(ref, updates(m), firestore.LastUpdateTime(r.Version))
	}
}

// runFields are the fields of a run's document. What is queried or expires is a
// timestamp.
func runFields(r *runner.Run) (map[string]any, error) {
	var m map[string]any
	if r.Schema < packedSchema {
		var err error
		if m, err = fields(r); err != nil {
			return nil, err
		}
	} else {
		state, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("encode run %s: %w", r.RunID(), err)
		}
		m = map[string]any{
			"schema": r.Schema, "flowId": r.FlowID, "estimateId": r.EstimateID, "ownerId": r.Owner, "status": string(r.Status), "state": state,
		}
	}
	m["createdAt"] = r.CreatedAt
	if r.WakeAt != nil {
		m["wakeAt"] = *r.WakeAt
	}
	if r.EndedAt != nil {
		m["expireAt"] = r.EndedAt.Add(runKept)
	}
	return m, nil
}

// unchanging are fields that stay as they were when the run was created.
func unchanging(r *runner.Run) []string {
	if r.Schema < packedSchema {
		return nil
	}
	return []string{"schema", "flowId", "estimateId", "ownerId", "createdAt"}
}

// vanishing are fields that a run may have had and have no more.
func vanishing(r *runner.Run) []string {
	if r.Schema < packedSchema {
		return []string{
			"wakeAt", "hold", "waitSince", "endedAt", "projectId", "parent", "carried", "edits", "facts", "viewAt", "error", "flags",
			"controls", "forgotten", "shown",
		}
	}
	return []string{"wakeAt"}
}

func loadRun(doc *firestore.DocumentSnapshot) (runner.Run, error) {
	r := runner.Run{Version: doc.UpdateTime}
	m := doc.Data()
	var err error
	if state, packed := m["state"].([]byte); packed {
		err = json.Unmarshal(state, &r)
	} else {
		err = load(m, &r)
	}
	if err != nil {
		return runner.Run{}, fmt.Errorf("run %s: %w", doc.Ref.ID, err)
	}
	return r, nil
}
