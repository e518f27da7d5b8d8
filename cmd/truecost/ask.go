package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/fault"
)

// ask calls a callable function as the user and decodes the data of its answer.
func (c *call) ask(ctx context.Context, s *service, function string, data map[string]any, into any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if c.user != "" {
		data["userId"] = c.user
	}
	var answer struct {
		Data json.RawMessage `json:"data"`
	}
	if err := s.callables(c.token).Call(ctx, function, data, &answer); err != nil {
		return err
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		return fault.Wrap(fault.Internal, err, "%s: the answer cannot be read", function)
	}
	return nil
}

var (
	runPattern  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}~[1-9][0-9]{0,5}$`)
	nodePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// checkRunID refuses what can be the id neither of a run nor of an estimate.
func checkRunID(c *call) error {
	if id := c.args[0]; !intake.ValidID(id) && !runPattern.MatchString(id) {
		return fmt.Errorf("%q cannot be the id of a run or an estimate", id)
	}
	return nil
}

// subject names the run that the first argument means: itself, or the latest of
// the estimate.
func (c *call) subject() map[string]any {
	if strings.Contains(c.args[0], "~") {
		return map[string]any{"runId": c.args[0]}
	}
	return map[string]any{"estimateId": c.args[0]}
}
