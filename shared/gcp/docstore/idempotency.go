package docstore

import (
	"context"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Started implements runner.Store. One read. How long ago the key was used is
// taken by the server's clock alone.
func (s *Store) Started(ctx context.Context, owner, key string) (runner.Idempotency, error) {
	doc, err := s.idempotency(owner, key).Get(ctx)
	if err != nil {
		return runner.Idempotency{}, rpcFault(err, "the key was not used")
	}
	if old(doc) {
		return runner.Idempotency{}, fault.New(fault.NotFound, "the key was used long ago")
	}
	var d idempotencyDoc
	if err := doc.DataTo(&d); err != nil {
		return runner.Idempotency{}, fmt.Errorf("idempotency key: %w", err)
	}
	return runner.Idempotency{Owner: d.Owner, Key: d.Key, EstimateID: d.EstimateID, Input: d.Input, CreatedAt: d.CreatedAt}, nil
}

// idempotencyDoc is the document of a user's key.
type idempotencyDoc struct {
	Owner      string    `firestore:"ownerId"`
	Key        string    `firestore:"key"`
	EstimateID string    `firestore:"estimateId"`
	Input      string    `firestore:"input"`
	CreatedAt  time.Time `firestore:"createdAt"`
	ExpireAt   time.Time `firestore:"expireAt"`
}

func old(doc *firestore.DocumentSnapshot) bool {
	return doc.ReadTime.Sub(doc.UpdateTime) > idempotencyKept
}

// forgotten returns the version of a key's document that counts as not there;
// zero when it counts.
func (s *Store) forgotten(ctx context.Context, i *runner.Idempotency) (time.Time, error) {
	doc, err := s.idempotency(i.Owner, i.Key).Get(ctx)
	if err != nil {
		if err := rpcFault(err, "idempotency key"); fault.KindOf(err) != fault.NotFound {
			return time.Time{}, err
		}
		return time.Time{}, nil // it was something else that exists
	}
	if old(doc) {
		return doc.UpdateTime, nil
	}
	return time.Time{}, nil
}

func (b *batch) putIdempotency(i *runner.Idempotency, version time.Time) {
	b.put(b.store.idempotency(i.Owner, i.Key), idempotencyDoc{
		Owner: i.Owner, Key: i.Key, EstimateID: i.EstimateID, Input: i.Input,
		CreatedAt: i.CreatedAt, ExpireAt: i.CreatedAt.Add(idempotencyKept),
	}, version)
}
