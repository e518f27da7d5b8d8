package docstore

import (
	"slices"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// stepDoc is the document of a step.
type stepDoc struct {
	Status      string            `firestore:"st"`
	Call        string            `firestore:"call"`
	Agent       string            `firestore:"agent"`
	Try         int               `firestore:"try"`
	Fence       int               `firestore:"fence"`
	Owner       string            `firestore:"owner"`
	LeaseMS     int64             `firestore:"leaseMs"`
	Beats       int               `firestore:"beats"`
	StartedAt   time.Time         `firestore:"startedAt"`
	RequestHash string            `firestore:"requestHash"`
	Result      []byte            `firestore:"result"`
	Encoding    string            `firestore:"resultEncoding"`
	Failure     map[string]string `firestore:"failure"`
	Score       int               `firestore:"score"`
	Tokens      int               `firestore:"tokens"`
	DurationMS  int64             `firestore:"durationMs"`
	RevAt       int               `firestore:"revAt"`
	Late        bool              `firestore:"late"`
	DoneAt      *time.Time        `firestore:"doneAt"`
}

// stepFields returns the fields of a step's document.
func stepFields(s *runner.Step) (map[string]any, error) {
	packed, encoding, err := pack(s.Result)
	if err != nil {
		return nil, err
	}
	m := map[string]any{
		"st": string(s.Status), "call": s.Call, "agent": s.Agent, "try": s.Try, "fence": s.Fence, "owner": s.Owner,
		"leaseMs": s.Lease.Milliseconds(), "beats": s.Beats, "startedAt": s.StartedAt, "requestHash": s.RequestHash,
		"result": packed, "resultEncoding": encoding, "score": s.Score, "tokens": s.Tokens,
		"durationMs": s.Duration.Milliseconds(), "revAt": s.RevAt, "late": s.Late, "doneAt": s.DoneAt, "failure": nil,
	}
	if f := s.Failure; f != nil {
		m["failure"] = map[string]string{"code": f.Code, "message": f.Message, "agent": f.Agent}
	}
	return m, nil
}

func loadStep(doc *firestore.DocumentSnapshot) (runner.Step, error) {
	var d stepDoc
	if err := doc.DataTo(&d); err != nil {
		return runner.Step{}, err
	}
	result, err := unpack(d.Result, d.Encoding)
	if err != nil {
		return runner.Step{}, err
	}
	s := runner.Step{
		Status: runner.StepStatus(d.Status), Call: d.Call, Agent: d.Agent, Try: d.Try, Fence: d.Fence, Owner: d.Owner,
		Lease: time.Duration(d.LeaseMS) * time.Millisecond, Beats: d.Beats, StartedAt: d.StartedAt, RequestHash: d.RequestHash,
		Result: result, Score: d.Score, Tokens: d.Tokens, Duration: time.Duration(d.DurationMS) * time.Millisecond,
		RevAt: d.RevAt, Late: d.Late, DoneAt: d.DoneAt, Version: doc.UpdateTime, ReadAt: doc.ReadTime,
	}
	if d.Failure != nil {
		s.Failure = &engine.Error{Code: d.Failure["code"], Message: d.Failure["message"], Agent: d.Failure["agent"]}
	}
	return s, nil
}

// updates lists fields as a field-mask update, in a stable order.
func updates(m map[string]any) []firestore.Update {
	list := make([]firestore.Update, 0, len(m))
	for k, v := range m {
		list = append(list, firestore.Update{FieldPath: firestore.FieldPath{k}, Value: v})
	}
	slices.SortFunc(list, func(a, b firestore.Update) int {
		if a.FieldPath[0] < b.FieldPath[0] {
			return -1
		}
		return 1
	})
	return list
}
