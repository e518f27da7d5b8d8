package wire

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

func TestEveryKindHasACode(t *testing.T) {
	t.Parallel()
	for _, kind := range fault.Kinds() {
		rows := 0
		for _, row := range kinds {
			if row.kind == kind {
				rows++
			}
		}
		if rows != 1 {
			t.Errorf("kind %q has %d rows in the table of kinds, want 1", kind, rows)
		}
	}
	if len(kinds) != len(fault.Kinds()) {
		t.Errorf("the table of kinds has %d rows, want %d", len(kinds), len(fault.Kinds()))
	}
}

func TestMeaningsAreOnePerCode(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for _, m := range meanings {
		if seen[m.Code] {
			t.Errorf("code %d has two meanings, want 1", m.Code)
		}
		seen[m.Code] = true
	}
	for _, row := range kinds {
		if !seen[row.code] {
			t.Errorf("code %d of kind %q has no meaning", row.code, row.kind)
		}
	}
	for _, s := range sentinels {
		if !seen[s.code] {
			t.Errorf("code %d of %v has no meaning", s.code, s.err)
		}
	}
}

func TestRefusalOf(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial 10.0.0.7")
	tests := []struct {
		err     error
		http    int
		rest    int
		code    int
		status  string
		message string
	}{
		{fault.New(fault.Invalid, "bad zip"), 200, 400, -32602, "INVALID_ARGUMENT", "bad zip"},
		{fault.New(fault.NotFound, "no such task"), 200, 404, -32001, "NOT_FOUND", "no such task"},
		{fault.New(fault.Conflict, "busy"), 200, 400, -32004, "FAILED_PRECONDITION", "busy"},
		{fault.New(fault.Unknown, "who"), 401, 401, -31401, "UNAUTHENTICATED", "who"},
		{fault.New(fault.Denied, "no"), 403, 403, -31403, "PERMISSION_DENIED", "no"},
		{fault.New(fault.Exhausted, "slow down"), 429, 429, -32000, "RESOURCE_EXHAUSTED", "slow down"},
		{fmt.Errorf("begin task: %w", fault.Wrap(fault.Unavailable, cause, "away")), 503, 503, -32000, "UNAVAILABLE", "away"},
		{fault.New(fault.Timeout, "late"), 503, 503, -32000, "UNAVAILABLE", "late"},
		{fault.New(fault.Canceled, "gone"), 503, 503, -32000, "UNAVAILABLE", "gone"},
		{fault.Wrap(fault.Internal, cause, "row 7 is broken"), 200, 500, -32603, "INTERNAL", "internal error"},
		{cause, 200, 500, -32603, "INTERNAL", "internal error"},
		{fault.Wrap(fault.Conflict, sdk.ErrTaskNotCancelable, "it has ended"), 200, 400, -32002, "FAILED_PRECONDITION", "it has ended"},
		{fault.Wrap(fault.Invalid, sdk.ErrUnsupportedContentType, "want text"), 200, 400, -32005, "INVALID_ARGUMENT", "want text"},
		{Refuse(http.StatusUnsupportedMediaType, CodeContentType, "want JSON"), 415, 415, -32005, "INVALID_ARGUMENT", "want JSON"},
	}
	for _, tt := range tests {
		got := RefusalOf(tt.err)
		if got.HTTP != tt.http || got.REST != tt.rest || got.Code != tt.code || got.Status != tt.status || got.Message != tt.message {
			t.Errorf("RefusalOf(%v) = %+v, want %+v", tt.err, *got, tt)
		}
	}
}

// What may pass must look so to the client at the other end, and what may not,
// must not: it decides about retries. An internal error of a server may pass.
func TestKindOfCode(t *testing.T) {
	t.Parallel()
	for _, kind := range fault.Kinds() {
		e := RefusalOf(fault.New(kind, "x"))
		want := kind.Transient() || kind == fault.Canceled || kind == fault.Internal
		if got := KindOfCode(e.Code); got.Transient() != want {
			t.Errorf("KindOfCode(%d) of kind %q = %q, transient %t, want %t", e.Code, kind, got, got.Transient(), want)
		}
	}
	tests := map[int]fault.Kind{
		-32700: fault.Invalid, -32600: fault.Invalid, -32601: fault.Invalid, -32602: fault.Invalid, -32005: fault.Invalid, -32009: fault.Invalid,
		-32603: fault.Unavailable, -32000: fault.Unavailable, -32001: fault.NotFound, -32002: fault.Conflict, -32004: fault.Conflict,
		-31401: fault.Unknown, -31403: fault.Denied, -32006: fault.Internal, 7: fault.Internal,
	}
	for code, want := range tests {
		if got := KindOfCode(code); got != want {
			t.Errorf("KindOfCode(%d) = %q, want %q", code, got, want)
		}
	}
}

func TestKindOfStatus(t *testing.T) {
	t.Parallel()
	tests := map[int]fault.Kind{
		401: fault.Unknown, 403: fault.Denied, 404: fault.NotFound, 429: fault.Exhausted, 408: fault.Timeout, 504: fault.Timeout,
		500: fault.Unavailable, 502: fault.Unavailable, 503: fault.Unavailable, 400: fault.Invalid, 413: fault.Invalid, 302: fault.Internal,
	}
	for status, want := range tests {
		if got := KindOfStatus(status); got != want {
			t.Errorf("KindOfStatus(%d) = %q, want %q", status, got, want)
		}
	}
}
