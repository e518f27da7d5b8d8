package report_test

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/report"
)

var update = flag.Bool("update", false, "price the kitchen again and rewrite docs/reports")

const docs = "../../docs/reports/"

// The reports that the documentation shows are what this package makes of the
// estimate beside them.
func TestDocs(t *testing.T) {
	t.Parallel()
	if *update {
		raw, err := json.Marshal(stored(t, sample.Planned(t, "kitchen")))
		if err != nil {
			t.Fatal(err)
		}
		write(t, "kitchen.json", append(raw, '\n'))
	}
	raw, err := os.ReadFile(docs + "kitchen.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := report.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]report.Options{"kitchen-client.pdf": {Client: true}, "kitchen-contractor.pdf": {}} {
		f := pdf(t, d, o)
		if *update {
			write(t, name, f.Bytes)
		}
		recorded, err := os.ReadFile(docs + name)
		if err != nil {
			t.Fatal(err)
		}
		if text(t, recorded) != text(t, f.Bytes) {
			t.Errorf("docs/reports/%s is not what kitchen.json gives; run make reports and look at it", name)
		}
		if len(recorded) > 400<<10 {
			t.Errorf("docs/reports/%s has %d bytes, want 400 KiB at most", name, len(recorded))
		}
	}
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(docs, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(docs+name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
