package estimates

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// started is the answer of start_deep_pipeline.
type started struct {
	EstimateID  string           `json:"estimateId"`
	Status      string           `json:"status"`
	NeedsReview bool             `json:"needsReview"`
	Warnings    []intake.Problem `json:"warnings"`
}

// start validates the clarified scope and starts its pipeline. It answers before
// any agent runs, and again with the same answer to the same request. Nothing
// is written for a bad input.
func (p Ports) start(ctx context.Context, call callable.Call) (any, error) {
	req, user, err := decode(call)
	if err != nil {
		return nil, err
	}
	if len(req.Clarification) == 0 || string(req.Clarification) == "null" {
		return nil, invalid("MISSING_FIELD", "clarificationOutput", "clarificationOutput: wanted a ClarificationOutput "+estimate.SchemaVersion)
	}
	clarified, report := intake.Parse(req.Clarification)
	if len(report.Errors) > 0 {
		return nil, refused(report)
	}
	if req.EstimateID == "" {
		req.EstimateID = clarified.EstimateID
	}
	if err := req.needID(); err != nil {
		return nil, err
	}
	hash, err := inputHash(req.Clarification)
	if err != nil {
		return nil, err
	}
	r, err := p.Runner()
	if err != nil {
		return nil, err
	}
	if req.ProjectID == "" {
		req.ProjectID = clarified.ProjectID
	}
	needsReview := clarified.Status == "needs_review" || len(report.Warnings) > 0
	err = r.Start(ctx, runner.StartRequest{
		EstimateID: req.EstimateID, Owner: user, Project: req.ProjectID, Input: hash, Clarification: req.Clarification,
		Fields: map[string]any{
			"projectName": clarified.Brief.ProjectName, "projectType": clarified.Brief.ProjectType,
			"address": clarified.Brief.Location.Full, "scope": clarified.Brief.Summary.Description,
			"squareFootage": clarified.Brief.Summary.Sqft,
			"needsReview":   needsReview, "inputWarnings": warnings(report),
		},
	})
	if err != nil {
		return nil, err
	}
	return success(started{EstimateID: req.EstimateID, Status: "processing", NeedsReview: needsReview, Warnings: warnings(report)})
}

func refused(report intake.Report) error {
	first := report.Errors[0]
	text := fmt.Sprintf("%s: %s", first.Path, first.Message)
	if more := len(report.Errors) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	e := fault.New(fault.Invalid, "the clarification is not valid: %s", text)
	e.Details = problem{Code: "VALIDATION_ERROR", Errors: report.Errors, Warnings: warnings(report)}
	return e
}

func warnings(report intake.Report) []intake.Problem {
	if report.Warnings == nil {
		return []intake.Problem{}
	}
	return report.Warnings
}

// inputHash tells a repeated request from another one: order of members and
// white space do not count.
func inputHash(raw json.RawMessage) (string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("hash the clarification: %w", err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("hash the clarification: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
