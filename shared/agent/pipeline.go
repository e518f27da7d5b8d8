package agent

import (
	"slices"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/intake"
)

// EstimateContext is the Decode of the families of the estimate pipeline: the
// clarified scope and the outputs of the agents before. Parts that were not sent
// are nil, since scorers are called with less; a primary says what it needs.
func EstimateContext(req a2a.Request) (estimate.Context, error) {
	return intake.Context(req.EstimateID, req.Input, req.ReceivedAt)
}

// Belongs grades whether an output is of the estimate it is judged for: id is
// the estimate it names. An output that names none, or a judge that knows none,
// finds nothing.
func Belongs(in estimate.Context, id string) Grade {
	known := []string{in.EstimateID}
	if in.Clarification != nil {
		known = append(known, in.Clarification.EstimateID)
	}
	known = slices.DeleteFunc(known, func(k string) bool { return k == "" })
	if id == "" || len(known) == 0 || slices.Contains(known, id) {
		return Full()
	}
	return Gate(Finding{
		Path: "estimateId", Observed: id, Expected: known[0], Issue: "The output is of another estimate.",
		Why: "Figures of two jobs must never meet.", HowToFix: "Work from the input of this estimate.", Fix: Recompute,
	})
}
