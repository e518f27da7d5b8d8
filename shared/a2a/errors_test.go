package a2a

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"truecost.dev/shared/fault"
)

func TestEveryKindHasACode(t *testing.T) {
	t.Parallel()
	for _, kind := range fault.Kinds() {
		rows := 0
		for _, row := range codes {
			if row.kind == kind {
				rows++
			}
		}
		if rows != 1 {
			t.Errorf("kind %q has %d rows in the table of codes, want 1", kind, rows)
		}
	}
	if len(codes) != len(fault.Kinds()) {
		t.Errorf("the table of codes has %d rows, want %d", len(codes), len(fault.Kinds()))
	}
}

func TestRefusalOf(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial 10.0.0.7")
	tests := []struct {
		err     error
		status  int
		code    int
		message string
	}{
		{fault.New(fault.Invalid, "bad zip"), 200, -32602, "bad zip"},
		{fault.New(fault.NotFound, "no such task"), 200, -32001, "no such task"},
		{fault.New(fault.Conflict, "busy"), 200, -32004, "busy"},
		{fault.New(fault.Unknown, "who"), 401, -31401, "who"},
		{fault.New(fault.Denied, "no"), 403, -31403, "no"},
		{fault.New(fault.Exhausted, "slow down"), 429, -32000, "slow down"},
		{fmt.Errorf("begin task: %w", fault.Wrap(fault.Unavailable, cause, "away")), 503, -32000, "away"},
		{fault.New(fault.Timeout, "late"), 503, -32000, "late"},
		{fault.New(fault.Canceled, "gone"), 503, -32000, "gone"},
		{fault.Wrap(fault.Internal, cause, "row 7 is broken"), 200, -32603, "internal error"},
		{cause, 200, -32603, "internal error"},
		{refuse(http.StatusUnsupportedMediaType, codeContentType, "want JSON"), 415, -32005, "want JSON"},
	}
	for _, tt := range tests {
		got := refusalOf(tt.err)
		if want := (refusal{tt.status, tt.code, tt.message}); *got != want {
			t.Errorf("refusalOf(%v) = %+v, want %+v", tt.err, *got, want)
		}
	}
}
