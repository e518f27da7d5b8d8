package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// table gathers the lines of one set of stores.
type table struct {
	rows   []row
	missed int
}

// row is a line: what was measured on the floor and on the engine, their ratio,
// and what is wanted of it.
type row struct {
	target, what, floor, engine, ratio, wanted, verdict string
}

// add adds a line with a verdict.
func (t *table) add(r row, met bool) {
	r.verdict = "met"
	if !met {
		r.verdict = "MISSED"
		t.missed++
	}
	t.rows = append(t.rows, r)
}

// note adds a line without a target.
func (t *table) note(r row) { t.rows = append(t.rows, r) }

func (t *table) print(out io.Writer, title string) {
	fmt.Fprintf(out, "\n%s\n\n", title)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\twhat\tfloor\tengine\tratio\twanted\t")
	for _, r := range t.rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.target, r.what, r.floor, r.engine, r.ratio, r.wanted, r.verdict)
	}
	_ = w.Flush() // a terminal
}
