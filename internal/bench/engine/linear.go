package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/engine"
)

// linear runs chains of 2, 4, …, 64 nodes, one at a time, and fits what they
// cost: T5. The document of a run is weighed whenever an agent is called.
func linear(ctx context.Context, r *rig, _ size, t *table) error {
	store, err := connectStore(ctx, r.at.Firestore)
	if err != nil {
		return err
	}
	defer store.Close()
	var nodes, writes, bytes series
	fits, worst := true, ""
	for _, n := range lengths {
		heaviest := 0
		weigh := func(estimate string) {
			if doc, err := store.Doc("runs/" + engine.RunID(estimate, 1)).Get(ctx); err == nil {
				heaviest = max(heaviest, weight(doc))
			}
		}
		r.agents.called.Store(&weigh)
		before, err := r.counts()
		if err != nil {
			return err
		}
		c, err := r.crowd(ctx, r.flowRun(linearFlow(n), smallInput), 1, 1)
		r.agents.called.Store(nil)
		if err != nil {
			return err
		}
		after, err := r.counts()
		if err != nil {
			return err
		}
		if err := r.right(ctx, c.ids, 1+2*n); err != nil {
			return err
		}
		stored, err := stored(ctx, store, c.ids[0])
		if err != nil {
			return err
		}
		nodes, writes, bytes = append(nodes, float64(n)), append(writes, float64(after.minus(before).Writes)), append(bytes, float64(stored))
		fits = fits && heaviest <= 300+400*n
		worst += fmt.Sprintf(" %d", heaviest)
	}
	for _, y := range []struct {
		what string
		of   series
	}{{"writes", writes}, {"bytes stored", bytes}} {
		a, b, r2 := line(nodes, y.of)
		t.add(row{"T5", fmt.Sprintf("%s of 2, 4, …, 64 nodes", y.what), "", fmt.Sprintf("%.0f + %.1f a node", a, b), fmt.Sprintf("R² %.5f", r2), "R² > 0.999", ""}, r2 > 0.999)
	}
	t.add(row{"T5", "document of a run at its heaviest, bytes", "", worst[1:], "", "≤ 300 + 400 a node", ""}, fits)
	return nil
}

// stored is the weight of everything a run left, in bytes.
func stored(ctx context.Context, store *firestore.Client, estimate string) (int, error) {
	run, root := store.Doc("runs/"+engine.RunID(estimate, 1)), store.Doc("estimates/"+estimate)
	docs, err := store.GetAll(ctx, []*firestore.DocumentRef{run, root})
	if err != nil {
		return 0, err
	}
	for _, c := range []*firestore.CollectionRef{run.Collection("steps"), root.Collection("agentOutputs")} {
		more, err := c.Documents(ctx).GetAll()
		if err != nil {
			return 0, err
		}
		docs = append(docs, more...)
	}
	sum := 0
	for _, doc := range docs {
		sum += weight(doc)
	}
	return sum, nil
}

// weight is the size of a document as Firestore counts it: its name, 32 bytes,
// names and values of its fields.
// https://cloud.google.com/firestore/docs/storage-size
func weight(doc *firestore.DocumentSnapshot) int {
	name := 16
	for ref := doc.Ref; ref != nil; ref = ref.Parent.Parent {
		name += len(ref.ID) + 1 + len(ref.Parent.ID) + 1
	}
	return name + 32 + weightOf(doc.Data())
}

func weightOf(v any) int {
	switch v := v.(type) {
	case nil, bool:
		return 1
	case string:
		return len(v) + 1
	case []byte:
		return len(v)
	case int64, float64, time.Time:
		return 8
	case []any:
		n := 0
		for _, element := range v {
			n += weightOf(element)
		}
		return n
	case map[string]any:
		n := 0
		for name, member := range v {
			n += len(name) + 1 + weightOf(member)
		}
		return n
	default:
		return math.MaxInt32 // the engine writes no such value
	}
}
