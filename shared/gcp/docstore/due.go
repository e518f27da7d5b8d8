package docstore

import (
	"context"
	"time"

	"cloud.google.com/go/firestore"
	"cloud.google.com/go/firestore/apiv1/firestorepb"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Due implements runner.Finder. One read per run found, and one when none is.
// Held and ended runs have no wakeAt and are not found.
func (s *Store) Due(ctx context.Context, now time.Time, after runner.Due, limit int) ([]runner.Due, error) {
	q := s.runs.
		Where("status", "in", []string{string(engine.Running), string(engine.WaitingInput)}).Where("wakeAt", "<=", now).
		OrderBy("wakeAt", firestore.Asc).OrderBy(firestore.DocumentID, firestore.Asc).Limit(limit).Select("wakeAt")
	if after.Run != "" {
		q = q.StartAfter(after.WakeAt, after.Run)
	}
	docs, err := q.Documents(ctx).GetAll()
	if err != nil {
		return nil, rpcFault(err, "due runs")
	}
	due := make([]runner.Due, len(docs))
	for i, doc := range docs {
		due[i].Run = doc.Ref.ID
		due[i].WakeAt, _ = doc.Data()["wakeAt"].(time.Time)
	}
	return due, nil
}

// Census implements runner.Finder. One read per 1,000 runs counted, and two at
// least. A run that waits for a person is not at work.
func (s *Store) Census(ctx context.Context, owner string, since time.Time) (atWork, created int, err error) {
	runs := s.runs.Where("ownerId", "==", owner)
	if atWork, err = count(ctx, runs.Where("status", "==", string(engine.Running))); err != nil {
		return 0, 0, err
	}
	created, err = count(ctx, runs.Where("createdAt", ">=", since).OrderBy("createdAt", firestore.Desc))
	return atWork, created, err
}

// count counts what a query finds, on the server.
func count(ctx context.Context, q firestore.Query) (int, error) {
	result, err := q.NewAggregationQuery().WithCount("n").Get(ctx)
	if err != nil {
		return 0, rpcFault(err, "count documents")
	}
	n, ok := result["n"].(*firestorepb.Value)
	if !ok {
		return 0, fault.New(fault.Internal, "a count is %T", result["n"])
	}
	return int(n.GetIntegerValue()), nil
}
