package estimates

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// starting is a request to start an estimate.
type starting struct {
	subject
	Clarification      json.RawMessage `json:"clarificationOutput"`
	ClarificationSnake json.RawMessage `json:"clarification_output"`
	ProjectID          string          `json:"projectId"`
	Key                string          `json:"idempotencyKey"` // names the request: what it started is started once
}

// idempotencyKey keeps keys fit for names of documents and lines of logs.
var idempotencyKey = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// started is the answer of start_deep_pipeline.
type started struct {
	EstimateID  string           `json:"estimateId"`
	RunID       string           `json:"runId"`
	Status      string           `json:"status"`
	NeedsReview bool             `json:"needsReview"`
	Warnings    []intake.Problem `json:"warnings"`
}

// start validates the clarified scope and starts its pipeline. It answers before
// any agent runs, and again with the same answer to the same request. Nothing
// is written for a bad input.
func (p Ports) start(ctx context.Context, call callable.Call) (any, error) {
	var req starting
	user, err := decode(call, &req)
	if err != nil {
		return nil, err
	}
	got, err := p.begin(ctx, user, &req)
	if err != nil {
		return nil, err
	}
	return success(got)
}

// begin starts what is asked for, once.
func (p Ports) begin(ctx context.Context, user string, req *starting) (started, error) {
	clarified, report, err := req.clarified()
	if err != nil {
		return started{}, err
	}
	hash, err := inputHash(req.Clarification)
	if err != nil {
		return started{}, err
	}
	r, err := p.Runner()
	if err != nil {
		return started{}, err
	}
	needsReview := clarified.Status == "needs_review" || len(report.Warnings) > 0
	got, err := r.Start(ctx, runner.StartRequest{
		EstimateID: req.EstimateID, Owner: user, Project: orElse(req.ProjectID, clarified.ProjectID), Key: req.Key,
		Input: hash, Clarification: req.Clarification,
		Fields: map[string]any{
			"projectName": clarified.Brief.ProjectName, "projectType": clarified.Brief.ProjectType,
			"address": clarified.Brief.Location.Full, "scope": clarified.Brief.Summary.Description,
			"squareFootage": clarified.Brief.Summary.Sqft,
			"needsReview":   needsReview, "inputWarnings": warnings(report),
		},
	})
	if err != nil {
		return started{}, coded(err)
	}
	return started{
		EstimateID: got.EstimateID, RunID: got.Run, Status: "processing", NeedsReview: needsReview, Warnings: warnings(report),
	}, nil
}

// clarified reads the scope of a request, and from it the estimate's id where
// the request gives none.
func (s *starting) clarified() (estimate.Clarification, intake.Report, error) {
	if s.Clarification == nil {
		s.Clarification = s.ClarificationSnake
	}
	if absent(s.Clarification) {
		return estimate.Clarification{}, intake.Report{}, missing("clarificationOutput", "a ClarificationOutput "+estimate.SchemaVersion)
	}
	if s.Key != "" && !idempotencyKey.MatchString(s.Key) {
		return estimate.Clarification{}, intake.Report{}, wanted("idempotencyKey", "1 to 128 letters, digits, . _ : or -")
	}
	clarified, report := intake.Parse(s.Clarification)
	if len(report.Errors) > 0 {
		return clarified, report, refused(report)
	}
	s.EstimateID = orElse(orElse(s.EstimateID, s.EstimateIDSnake), clarified.EstimateID)
	return clarified, report, s.needEstimate()
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
