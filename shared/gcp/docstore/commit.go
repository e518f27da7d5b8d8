package docstore

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Bounds of what stands on the root of an estimate and of one commit.
const (
	maxRootOutput   = 200 << 10
	maxCommitWrites = 450
	maxFeedback     = 16 << 10
	feedbackEntries = 10
)

// Commit implements runner.Store: one atomic commit under the versions that
// were read. Documents below the estimate that do not fit into it are written
// before it, under ids that stay the same when the commit is tried again.
func (s *Store) Commit(ctx context.Context, c runner.Commit) error {
	items := c.Documents.Items
	if len(items) > maxCommitWrites {
		if err := s.writeItems(ctx, c.Run.EstimateID, items); err != nil {
			return err
		}
		items = nil
	}
	b := &batch{store: s, writes: s.client.Batch()} //nolint:staticcheck // the one call that commits atomically under preconditions without a transaction's locks
	b.putRun(&c.Run)
	if c.Step != nil {
		b.putStep(c.Step)
	}
	for _, claim := range c.Touch {
		b.writes.Update(s.step(claim.Run, claim.ID), []firestore.Update{{Path: "touched", Value: firestore.ServerTimestamp}})
	}
	b.putEstimate(&c)
	for _, o := range c.Outputs {
		b.putOutput(c.Run.EstimateID, &o)
	}
	for _, item := range items {
		b.putItem(c.Run.EstimateID, item)
	}
	if b.err != nil {
		return b.err
	}
	if _, err := b.writes.Commit(ctx); err != nil {
		return rpcFault(err, "commit to %s", c.Run.RunID())
	}
	return nil
}

// batch gathers the writes of one commit and the first error of preparing them.
type batch struct {
	store  *Store
	writes *firestore.WriteBatch //nolint:staticcheck // see Commit
	err    error
}

func (b *batch) fail(err error) bool {
	if b.err == nil {
		b.err = err
	}
	return err != nil
}

func (b *batch) putRun(r *runner.Run) {
	m, err := fields(r.State)
	if b.fail(err) {
		return
	}
	// Timestamps that are queried or expire must be timestamps, not text.
	m["createdAt"], m["updatedAt"], m["deadlineAt"] = r.CreatedAt, r.UpdatedAt, r.DeadlineAt
	m["wakeAt"], m["endedAt"] = r.WakeAt, r.EndedAt
	ref := b.store.run(r.RunID())
	if r.Version.IsZero() {
		b.writes.Create(ref, m)
		return
	}
	b.writes.Update(ref, updates(m), firestore.LastUpdateTime(r.Version))
}

func (b *batch) putStep(s *runner.Step) {
	m, err := stepFields(s)
	if b.fail(err) {
		return
	}
	b.writes.Update(b.store.step(s.Run, s.ID), updates(m), firestore.LastUpdateTime(s.Version))
}

// putEstimate writes what frontends watch: the view, the outputs on the root
// and the fields that outputs bring with them. It is one write.
func (b *batch) putEstimate(c *runner.Commit) {
	ref := b.store.estimate(c.Run.EstimateID)
	m := map[string]any{}
	for k, v := range c.Documents.Root {
		field, err := jsonValue(v)
		if b.fail(err) {
			return
		}
		m[k] = field
	}
	for _, o := range c.Outputs {
		b.putRootOutput(m, &o)
	}
	if c.Start != nil {
		b.createEstimate(ref, c, m)
		return
	}
	list := updates(m)
	if c.View != nil {
		list = append(list, viewUpdates(c.View)...)
	}
	for node, feedback := range c.Feedback {
		v, err := brief(feedback)
		if b.fail(err) {
			return
		}
		list = append(list, firestore.Update{FieldPath: firestore.FieldPath{"pipelineStatus", "criticFeedback", node}, Value: v})
	}
	if len(list) > 0 {
		b.writes.Update(ref, append(list, firestore.Update{Path: "updatedAt", Value: c.Run.UpdatedAt}))
	}
}

func (b *batch) createEstimate(ref *firestore.DocumentRef, c *runner.Commit, m map[string]any) {
	for k, v := range c.Start.Fields {
		field, err := jsonValue(v)
		if b.fail(err) {
			return
		}
		m[k] = field
	}
	v, encoding, err := visible(c.Start.Clarification)
	if b.fail(err) {
		return
	}
	m["clarificationOutput"] = v
	if encoding != "" {
		m["clarificationOutputEncoding"] = encoding
	}
	m["userId"], m["projectId"] = c.Run.Owner, c.Run.Project
	m["createdAt"], m["updatedAt"] = c.Run.CreatedAt, c.Run.UpdatedAt
	status := map[string]any{"criticFeedback": map[string]any{}}
	for _, u := range viewUpdates(c.View) {
		if u.FieldPath[0] == "pipelineStatus" {
			status[u.FieldPath[1]] = u.Value
		} else {
			m[u.FieldPath[0]] = u.Value
		}
	}
	m["pipelineStatus"] = status
	b.writes.Create(ref, m)
}

// brief returns a critique as the root shows it. The lists of a long one are cut:
// there may be a finding for every line, and the root is a document that every
// frontend listens to. The agent gets the whole.
func brief(feedback json.RawMessage) (any, error) {
	v, _, err := visible(feedback)
	m, ok := v.(map[string]any)
	switch {
	case err != nil || len(feedback) <= maxFeedback:
		return v, err
	case !ok:
		return map[string]any{"truncated": true}, nil
	}
	for name, member := range m {
		switch member := member.(type) {
		case []any:
			m[name] = member[:min(len(member), feedbackEntries)]
		case string:
			m[name] = strings.ToValidUTF8(member[:min(len(member), maxFeedback/8)], "")
		}
	}
	m["truncated"] = true
	return m, nil
}

// viewUpdates lists the view's fields, so that a user who renames the estimate
// never conflicts with the engine.
func viewUpdates(v *engine.View) []firestore.Update {
	var failure any
	if v.Error != nil {
		failure = map[string]any{"code": v.Error.Code, "message": v.Error.Message, "agent": v.Error.Agent}
	}
	var current any
	if v.CurrentAgent != nil {
		current = *v.CurrentAgent
	}
	list := []firestore.Update{
		{FieldPath: firestore.FieldPath{"status"}, Value: v.Status},
		{FieldPath: firestore.FieldPath{"error"}, Value: failure},
	}
	for _, f := range []struct {
		name  string
		value any
	}{
		{"currentAgent", current},
		{"currentAgents", v.CurrentAgents},
		{"completedAgents", v.CompletedAgents},
		{"agentStatuses", v.AgentStatuses},
		{"progress", v.Progress},
		{"scores", v.Scores},
		{"retries", v.Retries},
		{"currentRetry", v.CurrentRetry},
		{"error", failure},
		{"partial", v.Partial},
		{"run", v.Run},
		{"rev", v.Rev},
		{"startedAt", v.StartedAt},
		{"lastUpdated", v.LastUpdated},
		{"completedAt", v.CompletedAt},
	} {
		list = append(list, firestore.Update{FieldPath: firestore.FieldPath{"pipelineStatus", f.name}, Value: f.value})
	}
	return list
}

// putRootOutput puts {node}Output on the root of the estimate, or, when it is
// too large for it, where to find it.
func (b *batch) putRootOutput(m map[string]any, o *runner.Output) {
	v, encoding, err := visible(o.Data)
	if b.fail(err) {
		return
	}
	if len(o.Data) > maxRootOutput {
		v, encoding = map[string]any{"truncated": true, "document": "agentOutputs/" + o.Node}, ""
	}
	m[o.Node+"Output"] = v
	if encoding != "" {
		m[o.Node+"OutputEncoding"] = encoding
	}
}

// outputDoc is a document of agentOutputs. Output is a map where Firestore can
// hold it, else packed JSON.
type outputDoc struct {
	Agent       string    `firestore:"agentName"`
	Status      string    `firestore:"status"` // complete or error, as the UI expects
	Output      any       `firestore:"output"`
	Packed      []byte    `firestore:"outputBytes,omitempty"`
	Encoding    string    `firestore:"outputEncoding"` // "", json, gzip
	Summary     any       `firestore:"summary"`        // text, nil where an output has none
	Confidence  any       `firestore:"confidence"`
	Score       int       `firestore:"score"`
	Attempt     int       `firestore:"attempt"`
	Tokens      int       `firestore:"tokensUsed"`
	DurationMS  int64     `firestore:"durationMs"`
	StartedAt   time.Time `firestore:"startedAt"`
	CompletedAt time.Time `firestore:"completedAt"`
	CreatedAt   time.Time `firestore:"createdAt"`
	UpdatedAt   time.Time `firestore:"updatedAt"`
}

func (b *batch) putOutput(estimate string, o *runner.Output) {
	d := outputDoc{
		Agent: o.Node, Status: "complete", Score: o.Score, Attempt: o.Attempt, Tokens: o.Tokens,
		DurationMS: o.Duration.Milliseconds(), StartedAt: o.StartedAt, CompletedAt: o.DoneAt, CreatedAt: o.DoneAt, UpdatedAt: o.DoneAt,
	}
	if o.Phase == engine.NodeFailed {
		d.Status = "error"
	}
	v, encoding, err := visible(o.Data)
	if b.fail(err) {
		return
	}
	if m, ok := v.(map[string]any); ok {
		d.Confidence, d.Summary = m["confidence"], m["summary"]
		if prose, ok := m["summary"].(map[string]any); ok {
			d.Summary = prose["headline"] // the cost agent's summary has parts
		}
	}
	d.Output, d.Encoding = v, encoding
	if encoding != "" || len(o.Data) > maxRootOutput {
		if d.Packed, d.Encoding, err = pack(o.Data); b.fail(err) {
			return
		}
		d.Output = nil
	}
	b.writes.Set(b.store.estimate(estimate).Collection("agentOutputs").Doc(o.Node), d)
}

// json returns the output as it was written.
func (d *outputDoc) json() (json.RawMessage, error) {
	if d.Packed != nil {
		return unpack(d.Packed, d.Encoding)
	}
	return raw(d.Output, d.Encoding)
}

func (b *batch) putItem(estimate string, item runner.Document) {
	m, err := fields(item.Fields)
	if b.fail(err) {
		return
	}
	b.writes.Set(b.store.estimate(estimate).Collection(item.Collection).Doc(item.ID), m)
}

func (s *Store) writeItems(ctx context.Context, estimate string, items []runner.Document) error {
	for len(items) > 0 {
		n := min(len(items), maxCommitWrites)
		b := &batch{store: s, writes: s.client.Batch()} //nolint:staticcheck // see Commit
		for _, item := range items[:n] {
			b.putItem(estimate, item)
		}
		if b.err != nil {
			return b.err
		}
		if _, err := b.writes.Commit(ctx); err != nil {
			return rpcFault(err, "items of %s", estimate)
		}
		items = items[n:]
	}
	return nil
}

// jsonValue turns a field with JSON tags into Firestore's kinds of values.
func jsonValue(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode %T", v)
	}
	field, _, err := visible(b)
	return field, err
}
