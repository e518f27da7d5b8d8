package docstore

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Room on the root of an estimate, in bytes as Firestore counts them. Together
// with the view they stay below the 1 MiB of a document, whatever the writes
// were before: nobody reads it to know what is left.
const (
	rootInput    = 100 << 10
	rootStart    = 32 << 10  // further fields of a new estimate
	rootFields   = 100 << 10 // what outputs bring with them
	rootOutputs  = 690 << 10 // of all nodes: who comes first has it
	rootOutput   = 200 << 10 // of one node
	rootNode     = 1500      // what the view and names of members take of that, a node
	rootFeedback = 60 << 10  // of all critics
	maxFeedback  = 16 << 10  // of one critic

	feedbackEntries = 10
)

// clarification names the blob of an estimate's input.
const clarification = "clarification"

// share is what one node of a run gets of the room for all.
func share(c *runner.Commit, all, most int) int {
	nodes := engine.MaxNodes
	if c.Run != nil && len(c.Run.Nodes) > 0 {
		nodes = len(c.Run.Nodes)
	}
	return min(all/nodes, most)
}

// putEstimate writes what frontends watch: the view, the outputs on the root and
// the fields that outputs bring with them. It is one write.
func (b *batch) putEstimate(c *runner.Commit) {
	root, err := bounded(c.Documents.Root, rootFields)
	if b.fail(err) {
		return
	}
	b.putRootOutputs(root, c)
	progress := map[string]any{} // of pipelineStatus, by member and node
	b.putProgress(progress, c)
	ref := b.store.estimate(c.EstimateID)
	if c.Start != nil && !c.Start.Keep {
		b.createEstimate(ref, c, root, progress)
		return
	}
	list := viewUpdates(c, progress)
	if len(root)+len(list) == 0 {
		return
	}
	root["updatedAt"] = changed(c)
	b.writes.Update(ref, append(updates(root), list...))
}

// putRootOutputs puts outputs on the root while there is room for them, and keeps
// count of it in the run: nobody reads the root to know.
func (b *batch) putRootOutputs(root map[string]any, c *runner.Commit) {
	if len(c.Outputs) == 0 || c.Run == nil {
		return
	}
	run := *c.Run
	run.Bytes = maps.Clone(run.Bytes)
	if run.Bytes == nil {
		run.Bytes = map[string]int{}
	}
	for i := range c.Outputs {
		o := &c.Outputs[i]
		room := rootOutputs - rootNode*len(run.Nodes)
		for node, bytes := range run.Bytes {
			if node != o.Node {
				room -= bytes
			}
		}
		run.Bytes[o.Node] = b.putRootOutput(root, o, min(room, rootOutput))
	}
	c.Run = &run
}

// changed is when what a commit says happened.
func changed(c *runner.Commit) any {
	switch {
	case c.Run != nil:
		return c.Run.UpdatedAt
	case c.View != nil:
		return c.View.LastUpdated
	default:
		return firestore.ServerTimestamp
	}
}

// putProgress gathers what is kept by node beside the view.
func (b *batch) putProgress(progress map[string]any, c *runner.Commit) {
	feedback, fanOut := map[string]any{}, map[string]any{}
	for node, said := range c.Feedback {
		v, err := brief(said, share(c, rootFeedback, maxFeedback))
		if b.fail(err) {
			return
		}
		feedback[node] = v
	}
	for node, p := range c.Chunks {
		fanOut[node] = map[string]any{"done": p.Done, "of": p.Of}
	}
	progress["criticFeedback"], progress["fanOut"] = feedback, fanOut
}

func (b *batch) createEstimate(ref *firestore.DocumentRef, c *runner.Commit, root, progress map[string]any) {
	fields, err := bounded(c.Start.Fields, rootStart)
	if b.fail(err) {
		return
	}
	maps.Copy(root, fields)
	v, encoding, err := visible(c.Start.Clarification)
	if b.fail(err) {
		return
	}
	if size(v) > rootInput {
		held := b.hold(ref, clarification, c.Start.Clarification, 0, started(c), true)
		v, encoding = map[string]any{"truncated": true, "document": "blobs/" + clarification}, held.Encoding
		root["clarificationOutputBlob"] = held.Blob
	}
	root["clarificationOutput"] = v
	if encoding != "" {
		root["clarificationOutputEncoding"] = encoding
	}
	if c.Run != nil {
		root["userId"], root["projectId"] = c.Run.Owner, c.Run.Project
		root["createdAt"] = c.Run.CreatedAt
	}
	root["updatedAt"] = changed(c)
	if c.View != nil {
		maps.Copy(progress, viewFields(c.View))
		root["status"], root["error"] = c.View.Status, viewError(c.View.Error)
	}
	root["pipelineStatus"] = progress
	maps.DeleteFunc(root, func(_ string, v any) bool { return v == firestore.Delete })
	b.writes.Create(ref, root)
}

// started is when the parts of a blob of a new estimate expire that no commit
// came to refer to.
func started(c *runner.Commit) *time.Time {
	if c.Run == nil {
		return nil
	}
	return expiry(c.Run.CreatedAt)
}

// viewUpdates lists the fields of the view one by one, so that a user who
// renames the estimate never conflicts with the engine. The view of another run
// replaces what is there wholly; after it, what never changes is left alone.
func viewUpdates(c *runner.Commit, progress map[string]any) []firestore.Update {
	var list []firestore.Update
	if c.View != nil {
		list = append(list, firestore.Update{Path: "status", Value: c.View.Status})
		if c.Start != nil || c.View.Error != nil {
			list = append(list, firestore.Update{Path: "error", Value: viewError(c.View.Error)})
		}
	}
	if c.Start != nil {
		if c.View != nil {
			maps.Copy(progress, viewFields(c.View))
		}
		return append(list, firestore.Update{Path: "pipelineStatus", Value: progress})
	}
	if c.View != nil {
		m := viewFields(c.View)
		for _, name := range asBegun(c.View) {
			delete(m, name)
		}
		list = append(list, updates(m, "pipelineStatus")...)
	}
	for _, name := range []string{"criticFeedback", "fanOut"} {
		byNode, _ := progress[name].(map[string]any)
		list = append(list, updates(byNode, "pipelineStatus", name)...)
	}
	return list
}

// asBegun are the members of a view that are as the start of its run wrote them:
// those that say of which run it is, and those that a run gets once, if ever.
func asBegun(v *engine.View) []string {
	names := []string{"run", "startedAt"}
	if v.Error == nil {
		names = append(names, "error")
	}
	if !v.Partial {
		names = append(names, "partial")
	}
	if v.CompletedAt == nil {
		names = append(names, "completedAt")
	}
	return names
}

// viewFields are the members of pipelineStatus.
func viewFields(v *engine.View) map[string]any {
	var current any
	if v.CurrentAgent != nil {
		current = *v.CurrentAgent
	}
	questions := make([]map[string]any, len(v.Questions))
	for i, q := range v.Questions {
		questions[i] = map[string]any{
			"inputId": q.InputID, "agent": q.Agent, "kind": q.Kind, "prompt": q.Prompt, "expiresAt": q.ExpiresAt,
		}
	}
	var hold any
	if v.Hold != nil {
		hold = map[string]any{"by": v.Hold.By, "reason": v.Hold.Reason}
	}
	return map[string]any{
		"currentAgent": current, "currentAgents": v.CurrentAgents, "completedAgents": v.CompletedAgents,
		"agentStatuses": v.AgentStatuses, "progress": v.Progress, "scores": v.Scores, "retries": v.Retries,
		"currentRetry": v.CurrentRetry, "error": viewError(v.Error), "partial": v.Partial, "run": v.Run, "rev": v.Rev,
		"startedAt": v.StartedAt, "lastUpdated": v.LastUpdated, "completedAt": v.CompletedAt,
		"questions": questions, "hold": hold,
	}
}

func viewError(e *engine.Error) any {
	if e == nil {
		return nil
	}
	return map[string]any{"code": e.Code, "message": e.Message, "agent": e.Agent}
}

// projectFields are the second view, in the words of a project's page.
func projectFields(c *runner.Commit) map[string]any {
	v := c.View
	status, failure := "running", viewError(v.Error)
	switch v.Status {
	case "complete":
		status = "complete"
	case "failed":
		status = "error"
	case "canceled":
		status, failure = "error", map[string]any{"code": "CANCELED", "message": "The run was canceled."}
	}
	m := viewFields(v)
	m["status"], m["error"], m["estimateStatus"] = status, failure, v.Status
	estimate := c.EstimateID
	if estimate == "" && c.Run != nil {
		estimate = c.Run.EstimateID // it is gone, its project is not
	}
	m["pipelineId"], m["estimateId"], m["projectId"] = estimate, estimate, c.Project
	m["currentStage"], m["completedStages"] = m["currentAgent"], v.CompletedAgents
	m["startedAt"], m["updatedAt"], m["completedAt"] = v.StartedAt.UnixMilli(), v.LastUpdated, nil
	if v.CompletedAt != nil {
		m["completedAt"] = v.CompletedAt.UnixMilli()
	}
	return m
}

// bounded encodes fields. While they are too large together, the largest says
// only that it is somewhere else.
func bounded(from map[string]any, room int) (map[string]any, error) {
	m, sizes, total := make(map[string]any, len(from)+1), map[string]int{}, 0
	for name, v := range from {
		field, err := jsonValue(v)
		if err != nil {
			return nil, err
		}
		m[name], sizes[name] = field, size(field)
		total += sizes[name]
	}
	largest := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	for _, name := range largest {
		if total <= room {
			break
		}
		m[name] = map[string]any{"truncated": true}
		total -= sizes[name]
	}
	return m, nil
}

// brief returns a critique as the root shows it. The lists of a long one are cut:
// there may be a finding for every line, and the root is a document that every
// frontend listens to. The agent gets the whole.
func brief(feedback json.RawMessage, room int) (any, error) {
	v, _, err := visible(feedback)
	if err != nil || size(v) <= room {
		return v, err
	}
	cut := map[string]any{"truncated": true}
	m, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch member := m[name].(type) {
		case []any:
			m[name] = member[:min(len(member), feedbackEntries)]
		case string:
			m[name] = strings.ToValidUTF8(member[:min(len(member), room/8)], "")
		}
		if left := size(cut) + len(name) + 1 + size(m[name]); left <= room {
			cut[name] = m[name]
		}
	}
	return cut, nil
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
