package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// document is estimates/{id} as far as it is shown, and all its fields as they
// stand. Everything but the status may be missing.
type document struct {
	ID       string
	Status   string   `json:"status"`
	Pipeline pipeline `json:"pipelineStatus"`

	ProjectName string `json:"projectName"`
	Location    *struct {
		Factor float64 `json:"locationFactor"`
		City   string  `json:"city"`
		State  string  `json:"state"`
		Zip    string  `json:"zipCode"`
	} `json:"locationOutput"`
	Cost *struct {
		Subtotals struct {
			Subtotal estimate.Range `json:"subtotal"`
		} `json:"subtotals"`
		Total estimate.Range `json:"total"`
	} `json:"costOutput"`
	Timeline *struct {
		Weeks float64 `json:"totalWeeks"`
	} `json:"timelineOutput"`
	Final *struct {
		Executive estimate.ExecutiveSummary `json:"executiveSummary"`
		Breakdown estimate.CostBreakdown    `json:"costBreakdown"`
	} `json:"finalOutput"`

	Total       *money.Cents `json:"totalCost"`
	P50         *money.Cents `json:"p50"`
	P80         *money.Cents `json:"p80"`
	P90         *money.Cents `json:"p90"`
	Weeks       *float64     `json:"timelineWeeks"`
	Contingency float64      `json:"contingencyPct"` // 0–100
	UpdatedAt   time.Time    `json:"updatedAt"`

	fields map[string]any
}

// pipeline is pipelineStatus.
type pipeline struct {
	CurrentAgent *string           `json:"currentAgent"`
	Completed    []string          `json:"completedAgents"`
	Statuses     map[string]string `json:"agentStatuses"`
	Progress     int               `json:"progress"`
	Scores       map[string]int    `json:"scores"` // {agent}, {agent}_attempt_{n}
	Retries      map[string]int    `json:"retries"`
	CurrentRetry int               `json:"currentRetry"`
	Error        *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Agent   string `json:"agent"`
	} `json:"error"`
	Critics map[string]struct {
		Issues []string `json:"issues"`
	} `json:"criticFeedback"`
	Run       int `json:"run"`
	Questions []struct {
		InputID string `json:"inputId"`
		Agent   string `json:"agent"`
		Kind    string `json:"kind"`
		Prompt  string `json:"prompt"`
	} `json:"questions"`
	Hold   *hold `json:"hold"`
	FanOut map[string]struct {
		Done int `json:"done"`
		Of   int `json:"of"`
	} `json:"fanOut"` // chunks, by node
}

// agents lists the agents of an estimate in pipeline order, then those of
// another flow by name.
func (p *pipeline) agents() []string {
	list := slices.Clone(estimate.Agents[:])
	for _, name := range slices.Sorted(maps.Keys(p.Statuses)) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// failure says why a run failed; empty when it did not.
func (p *pipeline) failure() string {
	if p.Error == nil {
		return ""
	}
	text := p.Error.Message
	if p.Error.Agent != "" && !strings.Contains(text, p.Error.Agent) {
		text = p.Error.Agent + ": " + text
	}
	return fmt.Sprintf("%s [%s]", text, p.Error.Code)
}

// issues are what the critic of the agent that failed found last.
func (p *pipeline) issues() []string {
	if p.Error == nil {
		return nil
	}
	return p.Critics[p.Error.Agent].Issues
}

func (d *document) ended() bool {
	return d.Status == "complete" || d.Status == "failed" || d.Status == "canceled"
}

// present leaves out what stands in the document as a reference only, being too
// large for it.
func present(fields map[string]any) map[string]any {
	shown := maps.Clone(fields)
	maps.DeleteFunc(shown, func(_ string, value any) bool {
		reference, ok := value.(map[string]any)
		return ok && reference["truncated"] == true && reference["document"] != nil
	})
	return shown
}

// decodeDocument reads the fields of a document. Outputs that Firestore could
// not hold as maps are JSON strings with {name}Encoding beside them; they become
// what they mean.
func decodeDocument(id string, fields map[string]any) (*document, error) {
	for name, value := range fields {
		text, ok := value.(string)
		if ok && fields[name+"Encoding"] == "json" && json.Valid([]byte(text)) {
			fields[name] = json.RawMessage(text)
			delete(fields, name+"Encoding")
		}
	}
	b, err := json.Marshal(present(fields))
	if err != nil {
		return nil, fmt.Errorf("encode the document: %w", err)
	}
	d := &document{ID: id}
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	d.fields = fields
	return d, nil
}
