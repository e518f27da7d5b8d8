package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/emulator/hub"
	"truecost.dev/shared/estimate"
)

// A kitchen from the call that starts it to the document that dashboards read.
// The agents are held until the call has been answered.
func TestKitchen(t *testing.T) {
	t.Parallel()
	st := newStage(t, only("location"))
	s := start(t, hub.Config{}, st.env())
	st.before(t, s)

	s.begin(t, "kitchen-1", input(t, "kitchen"))
	receive(t, st.held, "location")
	first := s.get(t, "estimates/kitchen-1")
	for path, want := range map[string]any{
		"status": "processing", "userId": "local", "projectId": "proj-vine-street",
		"pipelineStatus.currentAgent": "location", "pipelineStatus.currentAgents": []any{"location"},
		"pipelineStatus.completedAgents": []any{}, "pipelineStatus.progress": int64(0), "pipelineStatus.scores": map[string]any{},
		"pipelineStatus.agentStatuses.location": "running", "pipelineStatus.agentStatuses.final": "pending",
		"pipelineStatus.completedAt": nil, "pipelineStatus.error": nil, "locationOutput": nil, "totalCost": nil,
	} {
		if diff := cmp.Diff(want, first.at(path)); diff != "" {
			t.Errorf("before any agent ran, %s (-want +got):\n%s", path, diff)
		}
	}
	st.open()
	seen := s.end(t, "kitchen-1", "complete")
	neverFalls(t, seen, "pipelineStatus.progress")
	neverFalls(t, seen, "pipelineStatus.rev")
	checkComplete(t, s, "kitchen-1", 0)
	checkStatus(t, s, "kitchen-1")

	// The same input under another id gives the same numbers, and the same words.
	s.begin(t, "another-id", input(t, "kitchen"))
	s.end(t, "another-id", "complete")
	same(t, "the same kitchen under another id", s.shown(t, "kitchen-1"), s.shown(t, "another-id"))
}

// Two more projects: a contingency that the user fixed, and a whole addition.
func TestProjects(t *testing.T) {
	t.Parallel()
	for name, contingency := range map[string]float64{"bathroom": 0.10, "addition": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, hub.Config{}, nil)
			s.begin(t, name, input(t, name))
			seen := s.end(t, name, "complete")
			neverFalls(t, seen, "pipelineStatus.progress")
			checkComplete(t, s, name, contingency)
		})
	}
}

func neverFalls(t *testing.T, seen []version, path string) {
	t.Helper()
	var before int64
	for _, v := range seen {
		now, ok := v.at(path).(int64)
		if !ok || now < before {
			t.Errorf("%s is %v after %d", path, v.at(path), before)
		}
		before = now
	}
}

// checkComplete checks the documents of an estimate that went through without a
// retry: names and kinds, the end of its pipeline, its sub-collections, its
// identities. contingency is the part of the base that the user asked for, or 0.
func checkComplete(t *testing.T, s *system, id string, contingency float64) {
	t.Helper()
	doc := s.get(t, "estimates/"+id)
	report(t, "estimates/"+id, misfits(doc, shape(t, "estimate")))
	for _, agent := range estimate.Agents {
		report(t, "estimates/"+id, nulls(agent+"Output", doc[agent+"Output"]))
	}
	var agents []any
	scores, retries, statuses := map[string]any{}, map[string]any{}, map[string]any{}
	for _, agent := range estimate.Agents {
		score, _ := doc.at("pipelineStatus.scores." + agent).(int64)
		if score < 80 || score > 100 {
			t.Errorf("%s scored %d, want 80 to 100", agent, score)
		}
		agents = append(agents, agent)
		scores[agent], scores[agent+"_attempt_0"], retries[agent], statuses[agent] = score, score, int64(0), "completed"
	}
	for path, want := range map[string]any{
		"status": "complete", "pipelineStatus.currentAgent": nil, "pipelineStatus.progress": int64(100),
		"pipelineStatus.completedAgents": agents, "pipelineStatus.currentAgents": []any{},
		"pipelineStatus.agentStatuses": statuses, "pipelineStatus.scores": scores, "pipelineStatus.retries": retries,
		"pipelineStatus.partial": false, "pipelineStatus.error": nil, "pipelineStatus.run": int64(1),
		"pipelineStatus.rev": int64(1 + len(steps())), // the start and one per step
	} {
		if diff := cmp.Diff(want, doc.at(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	checkOutputs(t, s, id, doc)
	checkItems(t, s, id, doc)
	checkIdentities(t, doc)
	checkNumbers(t, doc, s.list(t, "estimates/"+id+"/costItems"), contingency)
}

// checkOutputs compares agentOutputs with the outputs on the root.
func checkOutputs(t *testing.T, s *system, id string, doc version) {
	t.Helper()
	outputs := s.list(t, "estimates/"+id+"/agentOutputs")
	if len(outputs) != len(estimate.Agents) {
		t.Errorf("%d documents in agentOutputs, want %d", len(outputs), len(estimate.Agents))
	}
	for _, agent := range estimate.Agents {
		out := outputs[agent]
		report(t, "agentOutputs/"+agent, misfits(out, shape(t, "output")))
		for name, want := range map[string]any{
			"agentName": agent, "status": "complete", "attempt": int64(0),
			"score": doc.at("pipelineStatus.scores." + agent), "output": doc[agent+"Output"],
		} {
			if diff := cmp.Diff(want, out[name]); diff != "" {
				t.Errorf("agentOutputs/%s.%s (-want +got):\n%.2000s", agent, name, diff)
			}
		}
	}
}

// checkItems counts costItems: one for each category of a line that costs
// something.
func checkItems(t *testing.T, s *system, id string, doc version) {
	t.Helper()
	items := s.list(t, "estimates/"+id+"/costItems")
	var want []string
	for _, line := range lines(doc) {
		for member, category := range map[string]string{"materialCost": "material", "laborCost": "labor", "equipmentCost": "equipment"} {
			if cents(t, line.at(member+".high")) > 0 {
				want = append(want, fmt.Sprint(line["lineItemId"])+"__"+category)
			}
		}
	}
	if len(items) != len(want) || len(items) == 0 {
		t.Errorf("%d documents in costItems, want %d", len(items), len(want))
	}
	for _, name := range want {
		item, ok := items[name]
		if !ok {
			t.Errorf("costItems/%s is not there", name)
			continue
		}
		report(t, "costItems/"+name, misfits(item, shape(t, "item")))
		if item["id"] != name || item["estimateId"] != id || !strings.HasSuffix(name, "__"+fmt.Sprint(item["category"])) {
			t.Errorf("costItems/%s says it is %v %v of %v", name, item["id"], item["category"], item["estimateId"])
		}
	}
	for _, path := range []string{"costItemsCount", "finalOutput.granularCostItems.count"} {
		if doc.at(path) != int64(len(items)) {
			t.Errorf("%s = %v, want %d", path, doc.at(path), len(items))
		}
	}
	for _, path := range []string{"costItemsCollectionPath", "finalOutput.granularCostItems.collectionPath"} {
		if want := "estimates/" + id + "/costItems"; doc.at(path) != want {
			t.Errorf("%s = %v, want %s", path, doc.at(path), want)
		}
	}
}

// checkStatus compares get_pipeline_status with the document.
func checkStatus(t *testing.T, s *system, id string) {
	t.Helper()
	doc := s.get(t, "estimates/"+id)
	status := s.status(t, id)
	if status["estimateId"] != id || status["clarificationOutput"] != nil || status["pipelineStatus"] != nil {
		t.Errorf("the status is of %v, with clarification %v", status["estimateId"], status["clarificationOutput"] != nil)
	}
	for name, path := range map[string]string{
		"status": "status", "currentAgent": "pipelineStatus.currentAgent", "progress": "pipelineStatus.progress",
		"completedAgents": "pipelineStatus.completedAgents", "scores": "pipelineStatus.scores", "retries": "pipelineStatus.retries",
		"error": "pipelineStatus.error", "locationOutput": "locationOutput", "scopeOutput": "scopeOutput", "costOutput": "costOutput",
		"riskOutput": "riskOutput", "timelineOutput": "timelineOutput", "totalCost": "totalCost", "cost_breakdown": "cost_breakdown",
		"bill_of_quantities": "bill_of_quantities", "risk_analysis": "risk_analysis", "laborAnalysis": "laborAnalysis",
	} {
		if diff := cmp.Diff(asJSON(t, doc.at(path)), asJSON(t, status[name])); diff != "" {
			t.Errorf("get_pipeline_status %s (-document +status):\n%.2000s", name, diff)
		}
	}
	items, _ := status.at("finalOutput.granularCostItems.items").([]any)
	if want := doc["costItemsCount"]; int64(len(items)) != want {
		t.Errorf("get_pipeline_status lists %d items, want %v", len(items), want)
	}
}

// status calls get_pipeline_status.
func (s *system) status(t *testing.T, id string) version {
	t.Helper()
	var answer struct {
		Success bool    `json:"success"`
		Data    version `json:"data"`
	}
	if err := s.Call(t.Context(), "get_pipeline_status", map[string]any{"estimateId": id}, &answer); err != nil || !answer.Success {
		t.Fatalf("status of %s: %v %v", id, answer.Success, err)
	}
	return answer.Data
}

// asJSON returns a value as a reader of JSON has it.
func asJSON(t *testing.T, value any) any {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func report(t *testing.T, what string, wrong []string) {
	t.Helper()
	if len(wrong) > 0 {
		t.Errorf("%s:\n%s", what, strings.Join(wrong, "\n"))
	}
}
