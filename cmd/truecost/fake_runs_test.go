package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/fault"
)

// answered is the envelope of every answer.
func answered(data any) (any, error) { return map[string]any{"success": true, "data": data}, nil }

// canned reads an answer of a real service.
func canned(file string) map[string]any {
	raw, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		panic(err)
	}
	return v
}

// paged cuts a list of objects behind the one whose member has the value after.
func paged(list []any, member, after string, limit int) (page []any, next any) {
	i := slices.IndexFunc(list, func(v any) bool { return v.(map[string]any)[member] == after })
	list = list[i+1:]
	if len(list) <= limit {
		return list, nil
	}
	return list[:limit], list[limit-1].(map[string]any)[member]
}

// listRuns gives two runs at a time, however many are asked for.
func (f *fake) listRuns(_ context.Context, in callable.Call) (any, error) {
	var r struct {
		Status, After, UserID string
		Limit                 int
	}
	if err := json.Unmarshal(in.Data, &r); err != nil || r.Limit < 1 || r.Limit > 100 {
		return nil, fault.New(fault.Invalid, "limit: wanted a number from 1 to 100")
	}
	list, _ := canned(f.testdata + "/runs.json")["runs"].([]any)
	list = slices.DeleteFunc(list, func(v any) bool {
		return r.UserID != "" || r.Status != "" && v.(map[string]any)["status"] != r.Status
	})
	page, next := paged(list, "runId", r.After, min(r.Limit, 2))
	return answered(map[string]any{"runs": page, "next": next})
}

// getRun gives four steps of a history at a time.
func (f *fake) getRun(_ context.Context, in callable.Call) (any, error) {
	var r struct{ RunID, EstimateID, After string }
	if err := json.Unmarshal(in.Data, &r); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "data")
	}
	file := map[string]string{"est-1": "run.json", "est-1~2": "run.json", "ask-1": "asks.json", "ask-1~1": "asks.json"}[r.EstimateID+r.RunID]
	if file == "" {
		return nil, fault.New(fault.NotFound, "there is no run %s", r.EstimateID+r.RunID)
	}
	d := canned(f.testdata + "/" + file)
	history, _ := d["history"].([]any)
	d["history"], d["historyNext"] = paged(history, "step", r.After, 4)
	return answered(d)
}

// keep notes what a run was asked to do.
func (f *fake) keep(function string, in callable.Call) (id string, members map[string]any, err error) {
	if err := json.Unmarshal(in.Data, &members); err != nil {
		return "", nil, fault.Wrap(fault.Invalid, err, "data")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, function+" "+string(in.Data))
	run, _ := members["runId"].(string)
	id, _ = members["estimateId"].(string)
	id, _, _ = strings.Cut(id+run, "~")
	if id == "nothing-1" {
		return "", nil, fault.New(fault.NotFound, "there is no estimate nothing-1")
	}
	return id, members, nil
}

// control takes answers, holds and resumes.
func (f *fake) control(function string) func(context.Context, callable.Call) (any, error) {
	return func(_ context.Context, in callable.Call) (any, error) {
		id, members, err := f.keep(function, in)
		if err != nil {
			return nil, err
		}
		if id == "done-1" {
			return nil, fault.New(fault.Conflict, "the run has ended: completed")
		}
		delete(members, "answer")
		maps.Copy(members, map[string]any{"estimateId": id, "runId": id + "~1", "held": function == "hold_pipeline"})
		return answered(members)
	}
}

// pdf answers with a file that says for whom it is.
func (f *fake) pdf(_ context.Context, in callable.Call) (any, error) {
	_, members, err := f.keep("generate_pdf", in)
	if err != nil {
		return nil, err
	}
	if members["estimate_id"] == "nothing-1" {
		return nil, fault.New(fault.NotFound, "there is no estimate nothing-1")
	}
	content := fmt.Sprintf("%%PDF-1.3 %v for the client: %v", members["estimate_id"], members["client_ready"])
	return map[string]any{
		"success": true, "page_count": 4, "pdf_url": "data:application/pdf;base64," + base64.StdEncoding.EncodeToString([]byte(content)),
	}, nil
}

func (f *fake) exported(_ context.Context, in callable.Call) (any, error) {
	id, members, err := f.keep("export_estimate", in)
	if err != nil {
		return nil, err
	}
	return answered(map[string]any{"estimateId": id, "content": fmt.Sprintf("%v of %s\n", members["format"], id)})
}

// retry starts a second run, which goes well.
func (f *fake) retry(_ context.Context, in callable.Call) (any, error) {
	id, _, err := f.keep("retry_pipeline", in)
	if err != nil {
		return nil, err
	}
	if err := f.tell(id, "local", success()); err != nil {
		return nil, err
	}
	return answered(map[string]any{"estimateId": id, "runId": id + "~2", "parent": id + "~1", "status": "processing"})
}

// asking is a run that asks, is held, goes on and fans out.
func asking() []map[string]any {
	versions := success()
	ask := stage(0, nil, nil)
	p := ask["pipelineStatus"].(map[string]any)
	ask["status"], p["currentAgent"] = "waiting_input", nil
	p["questions"] = []map[string]any{
		{"inputId": "location.0.pause", "agent": "location", "kind": "pause", "prompt": "Which\x1b[31m county?"},
		{"inputId": "scope.2.ask", "agent": "scope", "kind": "exhausted", "prompt": "Accept what there is, or give up?"},
	}
	held := stage(0, nil, nil)
	held["pipelineStatus"].(map[string]any)["hold"] = map[string]any{"by": "anna", "reason": "lunch"}
	fan := map[string]any{"scope": map[string]any{"done": 40, "of": 40}}
	for _, v := range versions[2:] {
		v["pipelineStatus"].(map[string]any)["fanOut"] = fan
	}
	return append([]map[string]any{ask, held}, versions...)
}
