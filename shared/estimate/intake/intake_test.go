package intake

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"truecost.dev/shared/estimate"
)

const testdata = "../../../testdata"

// fixture returns the bytes of a real input.
func fixture(tb rapid.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(testdata, name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// mustParse fails the test unless raw may be estimated.
func mustParse(tb rapid.TB, raw []byte) (estimate.Clarification, Report) {
	tb.Helper()
	c, r := Parse(raw)
	if err := r.Err(); err != nil {
		tb.Fatalf("Parse: %v", err)
	}
	return c, r
}

func realInputs(tb rapid.TB) []string {
	tb.Helper()
	files, err := filepath.Glob(testdata + "/*.json")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no real inputs in %s: %v", testdata, err)
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = filepath.Base(f)
	}
	return names
}

func TestParseRealInputs(t *testing.T) {
	t.Parallel()
	for _, name := range realInputs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, report := mustParse(t, fixture(t, name))
			if len(c.Scope) != 24 || len(report.Coverage.Missing) != 0 {
				t.Errorf("divisions = %d, missing %v, want all 24", len(c.Scope), report.Coverage.Missing)
			}
			if got := report.Coverage; got.Included != len(c.Brief.Summary.Included) || got.Included == 0 {
				t.Errorf("coverage %+v, want %d included", got, len(c.Brief.Summary.Included))
			}
			for key, d := range c.Scope {
				for _, i := range d.Items {
					if i.Unit.Dimension() == "" {
						t.Errorf("%s %s: unit %q is not canonical", key, i.ID, i.Unit)
					}
				}
			}
		})
	}
}

func TestParseIsIdempotent(t *testing.T) {
	t.Parallel()
	for _, name := range realInputs(t) {
		first, _ := mustParse(t, fixture(t, name))
		checkIdempotent(t, first)
	}
}

// checkIdempotent fails unless c, written and read, is c again.
func checkIdempotent(tb rapid.TB, c estimate.Clarification) {
	tb.Helper()
	written, err := json.Marshal(c)
	if err != nil {
		tb.Fatal(err)
	}
	again, report := Parse(written)
	if err := report.Err(); err != nil {
		tb.Fatalf("Parse of its own output: %v\n%s", err, written)
	}
	if diff := cmp.Diff(c, again); diff != "" {
		tb.Errorf("Parse of its own output (-first +again):\n%s", diff)
	}
}

func TestParseRefusesWhatIsNoClarification(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, path, code string }{
		{"nothing", "", "$", InvalidJSON},
		{"blank", " \n", "$", InvalidJSON},
		{"truncated", `{"estimateId":"e"`, "$", InvalidJSON},
		{"two values", `{} {}`, "$", InvalidJSON},
		{"trailing text", `{} x`, "$", InvalidJSON},
		{"null", "null", "$", InvalidType},
		{"array", "[]", "$", InvalidType},
		{"NaN", `{"estimateId":NaN}`, "$", InvalidJSON},
		{"older form", `{"version":"1.0","project":{},"location":{},"scope":{}}`, "$", OldFormat},
		{"deep", strings.Repeat("[", 800_000), "$", TooDeep},
		{"deep inside", `{"a":` + strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200) + "}", "$", TooDeep},
		{"a million levels", strings.Repeat("[", 1_000_000), "$", TooLarge},
		{"long", `{"a":"` + strings.Repeat("x", 50_000_000) + `"}`, "$", TooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, report := Parse([]byte(tt.in))
			if len(report.Errors) != 1 || report.Errors[0].Path != tt.path || report.Errors[0].Code != tt.code {
				t.Errorf("Parse(%s) errors = %v, want one %s at %s", tt.name, report.Errors, tt.code, tt.path)
			}
			if diff := cmp.Diff(estimate.Clarification{}, c); diff != "" {
				t.Errorf("Parse(%s) returned part of a clarification:\n%s", tt.name, diff)
			}
		})
	}
}

// A document without anything has one error for each section, and none inside.
func TestParseReportsEveryMissingSectionOnce(t *testing.T) {
	t.Parallel()
	_, report := Parse([]byte(`{}`))
	var got []string
	for _, p := range report.Errors {
		got = append(got, p.Path+" "+p.Code)
	}
	want := []string{
		"estimateId MISSING_ESTIMATE_ID", "schemaVersion INVALID_SCHEMA_VERSION", "timestamp MISSING_TIMESTAMP",
		"clarificationStatus INVALID_STATUS", "projectBrief MISSING_PROJECT_BRIEF", "csiScope MISSING_CSI_SCOPE",
		"cadData MISSING_CAD_DATA", "conversation MISSING_CONVERSATION", "flags MISSING_FLAGS",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors of {} (-want +got):\n%s", diff)
	}
	if len(report.Warnings) != 0 || len(report.Coverage.Missing) != 24 {
		t.Errorf("warnings = %v, missing divisions = %d; want none and 24", report.Warnings, len(report.Coverage.Missing))
	}
}
