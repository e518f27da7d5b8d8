package docstore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// How long documents stay that only the engine reads; TTL policies on expireAt
// remove them.
const (
	runKept         = 90 * 24 * time.Hour  // behind the end of the run
	recordKept      = 100 * 24 * time.Hour // what is below a run, behind the time it was recorded: a run lasts days
	idempotencyKept = 24 * time.Hour
)

// expiry is when something recorded at a time is removed; nil for never, of what
// does not say when it was recorded.
func expiry(recorded time.Time) *time.Time {
	if recorded.IsZero() {
		return nil
	}
	return new(recorded.Add(recordKept))
}

// maxID bounds an id of others in bytes; Firestore takes 1,500.
const maxID = 1000

func (s *Store) run(id string) *firestore.DocumentRef { return s.runs.Doc(id) }

func (s *Store) step(run string, id engine.StepID) *firestore.DocumentRef {
	return s.run(run).Collection("steps").Doc(string(id))
}

func (s *Store) input(run, id string) *firestore.DocumentRef {
	return s.run(run).Collection("inputs").Doc(id)
}

func (s *Store) shards(run string) *firestore.CollectionRef { return s.run(run).Collection("shards") }

func (s *Store) shard(fan runner.FanID, index int) *firestore.DocumentRef {
	return s.shards(fan.Run).Doc(fmt.Sprintf("%s.%d.%d", fan.Node, fan.Attempt, index))
}

func (s *Store) flow(hash string) *firestore.DocumentRef {
	return s.client.Collection("flows").Doc(hash)
}

func (s *Store) estimate(id string) *firestore.DocumentRef {
	return s.estimates.Doc(id)
}

func (s *Store) output(estimate, node string) *firestore.DocumentRef {
	return s.estimate(estimate).Collection("agentOutputs").Doc(node)
}

func (s *Store) project(id string) *firestore.DocumentRef {
	return s.client.Collection("projects").Doc(safeID(id)).Collection("pipeline").Doc("status")
}

// idempotency names the document of a user's key. Both are texts of others, of
// any length: the id is a hash, and the document has the texts.
func (s *Store) idempotency(owner, key string) *firestore.DocumentRef {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d~%s~%s", len(owner), owner, key))
	return s.client.Collection("idempotency").Doc(hex.EncodeToString(sum[:]))
}

// safeID returns id where Firestore takes it, else escaped, else its hash.
func safeID(id string) string {
	safe := url.PathEscape(id)
	switch {
	case len(safe) > maxID:
		sum := sha256.Sum256([]byte(id))
		return hex.EncodeToString(sum[:])
	case safe == ".", safe == "..", len(safe) >= 4 && safe[:2] == "__" && safe[len(safe)-2:] == "__":
		return "%" + safe // no escaped id begins like this
	}
	return safe
}
