package callable

import (
	"errors"
	"fmt"
	"testing"

	"truecost.dev/shared/fault"
)

// published is the table of the protocol: status word and HTTP status.
var published = map[string]int{
	"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "OUT_OF_RANGE": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403,
	"NOT_FOUND": 404, "ALREADY_EXISTS": 409, "ABORTED": 409, "RESOURCE_EXHAUSTED": 429, "CANCELLED": 499, "UNKNOWN": 500,
	"INTERNAL": 500, "DATA_LOSS": 500, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}

func TestTableIsThePublishedOne(t *testing.T) {
	t.Parallel()
	for _, row := range statuses {
		if published[row.status] != row.code {
			t.Errorf("%s has HTTP status %d, want %d", row.status, row.code, published[row.status])
		}
	}
	if len(statuses) != len(published) {
		t.Errorf("the table has %d rows, want %d", len(statuses), len(published))
	}
}

func TestEveryKindGoesBothWays(t *testing.T) {
	t.Parallel()
	for _, kind := range fault.Kinds() {
		wire, code := encodeError(fmt.Errorf("start: %w", fault.Wrap(kind, errors.New("dial 10.0.0.7"), "why")))
		if code != published[wire.Status] {
			t.Errorf("encodeError(%q) = %s, HTTP %d, want a row of the table", kind, wire.Status, code)
		}
		if got := kindOf(wire.Status, code); got != kind {
			t.Errorf("kindOf(encodeError(%q)) = %q, want the same", kind, got)
		}
		if got := kindOf("", code); got != kind {
			t.Errorf("kindOf(HTTP %d) = %q, want %q", code, got, kind)
		}
		want := "why"
		if kind == fault.Internal {
			want = "INTERNAL"
		}
		if wire.Message != want {
			t.Errorf("encodeError(%q) says %q, want %q", kind, wire.Message, want)
		}
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status string
		code   int
		want   fault.Kind
	}{
		{"FAILED_PRECONDITION", 400, fault.Conflict},
		{"ABORTED", 409, fault.Conflict},
		{"OUT_OF_RANGE", 400, fault.Invalid},
		{"UNIMPLEMENTED", 501, fault.Internal},
		{"of another house", 404, fault.NotFound},
		{"", 502, fault.Unavailable},
		{"", 418, fault.Internal},
	}
	for _, tt := range tests {
		if got := kindOf(tt.status, tt.code); got != tt.want {
			t.Errorf("kindOf(%q, %d) = %q, want %q", tt.status, tt.code, got, tt.want)
		}
	}
}
