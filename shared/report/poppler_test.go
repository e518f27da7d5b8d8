package report_test

import (
	"bytes"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"truecost.dev/shared/report"
)

// Another program reads the same: what it finds is what this package's own
// reading of the streams finds.
func TestPoppler(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Skip("pdftotext is not here: apt-get install poppler-utils")
	}
	d := samples(t)["kitchen"]
	for _, client := range []bool{true, false} {
		f := pdf(t, d, report.Options{Client: client})
		cmd := exec.CommandContext(t.Context(), program, "-layout", "-", "-")
		cmd.Stdin = bytes.NewReader(f.Bytes)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if pages := bytes.Count(out, []byte("\f")); pages != f.Pages {
			t.Errorf("pdftotext finds %d pages, want %d", pages, f.Pages)
		}
		want := d.Total().Whole()
		if !regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(want) + `(\s|$)`).Match(out) {
			t.Errorf("pdftotext does not find the total %s in the report, client %t", want, client)
		}
		if found := secrets.FindAll(out, -1); client && found != nil {
			t.Errorf("pdftotext finds %q in the client's report", found)
		}
		for line := range strings.SplitSeq(text(t, f.Bytes), "\n") {
			if number, isNumber := strings.CutPrefix(line, "$"); isNumber && !bytes.Contains(out, []byte(number)) {
				t.Errorf("pdftotext does not find %s, client %s", line, strconv.FormatBool(client))
			}
		}
	}
}
