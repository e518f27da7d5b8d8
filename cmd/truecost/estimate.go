package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/fault"
)

func estimateFlags(fs *flag.FlagSet, o *options) {
	fs.StringVar(&o.id, "id", "", "`id` of the estimate, in the place of the document's estimateId")
	fs.BoolVar(&o.detach, "detach", false, "print the id and leave; the run goes on")
	fs.StringVar(&o.dir, "pdf", "", "`folder` to write the reports for the client and the contractor into, when the run has ended")
	exportFlag(fs, o)
}

// runEstimate validates the document, starts its estimate and follows it.
func runEstimate(ctx context.Context, c *call) error {
	raw, clarified, err := c.clarification(c.args[0])
	if err != nil {
		return err
	}
	id := c.id
	if id == "" {
		id = clarified.EstimateID
	}
	s, err := c.connect(ctx, !c.detach)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := c.start(ctx, s, id, raw); err != nil {
		return err
	}
	if !c.detach {
		return c.followAndPrint(ctx, s, id)
	}
	if c.json {
		return c.printJSON(map[string]string{"estimateId": id, "status": "processing"})
	}
	_, err = fmt.Fprintln(c.stdout, id)
	return err
}

// followAndPrint follows the run to its end, and writes the reports where they
// are wanted.
func (c *call) followAndPrint(ctx context.Context, s *service, id string) error {
	err := c.follow(ctx, s, id)
	if err != nil || c.dir == "" {
		return err
	}
	out := c.stdout
	if c.json {
		out = c.stderr // stdout has the document
	}
	_, err = c.reports(ctx, s, id, c.dir, out)
	return err
}

// clarification reads and validates a document. Warnings go to stderr.
func (c *call) clarification(file string) (json.RawMessage, estimate.Clarification, error) {
	raw, err := c.read(file)
	if err != nil {
		return nil, estimate.Clarification{}, err
	}
	clarified, report := intake.Parse(raw)
	if !report.OK() {
		return nil, clarified, &refusedError{file: name(file), Errors: report.Errors, Warnings: report.Warnings}
	}
	for _, w := range report.Warnings {
		_, _ = fmt.Fprintf(c.stderr, "warning: %s\n", plain(w.String()))
	}
	return raw, clarified, nil
}

// read returns the bytes of a file, or of stdin for -, up to just more than
// intake takes.
func (c *call) read(file string) ([]byte, error) {
	in := c.stdin
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // G304: the user names the file to read
		if err != nil {
			return nil, fault.New(fault.Invalid, "%v", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, intake.MaxBytes+4))
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s: %v", name(file), err)
	}
	return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), nil // a byte order mark is no JSON
}

func name(file string) string {
	if file == "-" {
		return "stdin"
	}
	return file
}

// start calls start_deep_pipeline.
func (c *call) start(ctx context.Context, s *service, id string, raw json.RawMessage) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	data := map[string]any{"estimateId": id, "clarificationOutput": raw}
	if c.user != "" {
		data["userId"] = c.user
	}
	err := s.callables(c.token).Call(ctx, "start_deep_pipeline", data, nil)
	if err == nil {
		return nil
	}
	var details struct {
		Errors   []intake.Problem `json:"errors"`
		Warnings []intake.Problem `json:"warnings"`
	}
	if raw, ok := fault.Details(err).(json.RawMessage); ok && json.Unmarshal(raw, &details) == nil && len(details.Errors) > 0 {
		return &refusedError{file: id, Errors: details.Errors, Warnings: details.Warnings}
	}
	return fmt.Errorf("start %s: %w", id, err)
}
