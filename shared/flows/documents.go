package flows

import (
	"encoding/json"
	"fmt"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/estimate/synthesis"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// estimateDocuments returns what else an estimate shows when a node has passed:
// the line items with the cost, the integration fields with the final output.
func estimateDocuments(node string, outputs map[string]json.RawMessage) (runner.Documents, error) {
	switch node {
	case "cost":
		return costItems(outputs["cost_output"])
	case "final":
		return rootFields(outputs)
	default:
		return runner.Documents{}, nil
	}
}

func costItems(raw json.RawMessage) (runner.Documents, error) {
	var cost estimate.Cost
	if err := json.Unmarshal(raw, &cost); err != nil {
		return runner.Documents{}, fault.Wrap(fault.Internal, err, "read the cost output")
	}
	var d runner.Documents
	for _, item := range synthesis.CostItems(&cost) {
		d.Items = append(d.Items, runner.Document{Collection: "costItems", ID: item.ID, Fields: item})
	}
	return d, nil
}

func rootFields(outputs map[string]json.RawMessage) (runner.Documents, error) {
	var final estimate.Final
	if err := json.Unmarshal(outputs["final_output"], &final); err != nil {
		return runner.Documents{}, fault.Wrap(fault.Internal, err, "read the final output")
	}
	input, err := json.Marshal(outputs)
	if err != nil {
		return runner.Documents{}, fmt.Errorf("encode the outputs: %w", err)
	}
	context, err := intake.Context(final.EstimateID, input, time.Time{})
	if err != nil {
		return runner.Documents{}, fmt.Errorf("read the outputs: %w", err)
	}
	b, err := json.Marshal(synthesis.Root(context, final))
	if err != nil {
		return runner.Documents{}, fmt.Errorf("encode the integration fields: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return runner.Documents{}, fmt.Errorf("encode the integration fields: %w", err)
	}
	root := make(map[string]any, len(members))
	for name, value := range members {
		root[name] = value
	}
	return runner.Documents{Root: root}, nil
}
