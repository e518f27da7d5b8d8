package accuracy_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"truecost.dev/internal/accuracy"
	"truecost.dev/shared/estimate/catalog"
)

// The check prices and hours of the catalogue were made by the reference method
// at the defaults; ours must find them again.
func TestUsualJobsCostTheirCheckPrice(t *testing.T) {
	t.Parallel()
	rows, err := accuracy.Table()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(catalog.ProjectTypes()) {
		t.Errorf("%d rows for %d project types", len(rows), len(catalog.ProjectTypes()))
	}
	for _, r := range rows {
		if !r.Within() {
			t.Errorf("%s: %v is %+.2f %% from the check price %.0f, want within %.0f %%", r.Project, r.Price, 100*r.Off(), r.CheckPrice, 100*accuracy.Tolerance)
		}
		if math.Abs(r.Hours-r.CheckHours) > 0.5+0.01*r.CheckHours { // the check is in whole hours
			t.Errorf("%s: %.1f hours, want the check's %.0f", r.Project, r.Hours, r.CheckHours)
		}
	}
}

func TestPrintMarksWhatIsOff(t *testing.T) {
	t.Parallel()
	rows := []accuracy.Row{
		{Project: "good", Price: 10_190_00, CheckPrice: 10_000},
		{Project: "dear", Price: 10_210_00, CheckPrice: 10_000},
		{Project: "cheap", Price: 9_790_00, CheckPrice: 10_000},
	}
	var b bytes.Buffer
	off, err := accuracy.Print(&b, rows)
	if err != nil || off != 2 {
		t.Errorf("Print = %d off, %v; want 2", off, err)
	}
	for _, want := range []string{"+1.90 %\n", "+2.10 % off", "-2.10 % off", "1 of 3 project types within 2 %"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("Print wrote %q, want %q in it", b.String(), want)
		}
	}
}
