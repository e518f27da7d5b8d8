package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/fault"
)

// refusedError is a document that may not be estimated.
type refusedError struct {
	file     string
	Errors   []intake.Problem `json:"errors"`
	Warnings []intake.Problem `json:"warnings"`
}

func (e *refusedError) Error() string {
	lines := make([]string, len(e.Errors))
	for i, p := range e.Errors {
		lines[i] = p.String()
	}
	return fmt.Sprintf("%s cannot be estimated:\n%s", e.file, strings.Join(lines, "\n"))
}

// failedError is a run that ended without a result. What there is has been
// printed.
type failedError struct {
	id, status, why string
	issues          []string // what the critic of the agent that failed found last
}

// maxIssues is how many findings of a critic are printed; the document has all.
const maxIssues = 5

func (e *failedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "estimate %s: %s", e.id, e.status)
	if e.why != "" {
		fmt.Fprintf(&b, ": %s", e.why)
	}
	for _, issue := range e.issues[:min(len(e.issues), maxIssues)] {
		fmt.Fprintf(&b, "\n  %s", plain(issue))
	}
	if more := len(e.issues) - maxIssues; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

// interruptedError tells how to come back to a run that was left.
type interruptedError struct{ hint string }

func (e *interruptedError) Error() string { return e.hint }

// exit reports err and returns its exit code.
func (c *call) exit(ctx context.Context, err error) int {
	if err == nil {
		return exitDone
	}
	if refused, ok := errors.AsType[*refusedError](err); ok && c.json {
		if refused.Warnings == nil {
			refused.Warnings = []intake.Problem{}
		}
		return max(c.print(refused), exitBadInput)
	}
	code, text := exitCode(err), err.Error()
	if _, told := errors.AsType[*interruptedError](err); ctx.Err() != nil && !told {
		code, text = exitInterrupted, "interrupted"
	}
	_, _ = fmt.Fprintf(c.stderr, "truecost: %s\n", plainLines(text))
	return code
}

// exitCode maps every kind of error.
func exitCode(err error) int {
	if _, ok := errors.AsType[*refusedError](err); ok {
		return exitBadInput
	}
	if _, ok := errors.AsType[*failedError](err); ok {
		return exitFailed
	}
	if _, ok := errors.AsType[*interruptedError](err); ok {
		return exitInterrupted
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.NotFound, fault.Conflict, fault.Unknown, fault.Denied:
		return exitBadInput
	case fault.Unavailable, fault.Timeout, fault.Exhausted:
		return exitUnreachable
	case fault.Canceled:
		return exitInterrupted
	default:
		return exitFailed
	}
}

// print writes v to stdout as indented JSON; it returns exitFailed when stdout
// cannot be written.
func (c *call) print(v any) int {
	if err := c.printJSON(v); err != nil {
		_, _ = fmt.Fprintf(c.stderr, "truecost: %v\n", err)
		return exitFailed
	}
	return exitDone
}

func (c *call) printJSON(v any) error {
	e := json.NewEncoder(c.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
