package agent

import (
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
