package ledger

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLedgerOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger")
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if before, err := l.Begin("scope", "a"); before != 0 || err != nil {
		t.Fatalf("first Begin = %d, %v, want 0", before, err)
	}
	if err := l.Paid("scope", "a"); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"kind":"paid","ca`); err != nil { // killed over it
		t.Fatal(err)
	}
	f.Close()
	l, err = Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if before, err := l.Begin("scope", "a"); before != 1 || err != nil {
		t.Errorf("Begin after the restart = %d, %v, want 1", before, err)
	}
	entries, err := Read(path)
	if err != nil || len(entries) != 5 || entries[4].Boot != 2 {
		t.Errorf("Read = %v, %v, want five entries, the last of the second process", entries, err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	paid, stored := func(boot int) Entry { return Entry{Paid, boot, "scope", "a"} }, Entry{Stored, 1, "scope", "a"}
	tests := []struct {
		name          string
		entries       []Entry
		twice, faults int
	}{
		{"once", []Entry{paid(1), stored}, 0, 0},
		{"again after a death", []Entry{paid(1), paid(2)}, 1, 0},
		{"again and again after deaths", []Entry{paid(1), paid(2), paid(5)}, 2, 0},
		{"again in one life", []Entry{paid(1), paid(1)}, 0, 1},
		{"again although stored", []Entry{paid(1), stored, paid(2)}, 0, 1},
	}
	for _, tt := range tests {
		a := Check(tt.entries)
		if a.Twice != tt.twice || len(a.Faults) != tt.faults || a.Calls != 1 {
			t.Errorf("%s: Check = %+v, want %d twice and %d faults of one call", tt.name, a, tt.twice, tt.faults)
		}
	}
}
