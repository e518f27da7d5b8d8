package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// writeResult writes the table of a result, or of as much of one as there is.
func (d *document) writeResult(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", d.title())
	t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	row := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(t, "  %s\t%s\n", name, fmt.Sprintf(format, args...)) // a builder takes everything
	}
	if l := d.Location; l != nil {
		row("Location factor", "%.3f  (%s, %s %s)", l.Factor, plain(l.City), plain(l.State), plain(l.Zip))
	}
	switch {
	case d.Final != nil:
		d.finalRows(row)
	case d.Total != nil:
		d.totalRows(row)
	case d.Cost != nil:
		row("Direct cost", "%s", d.Cost.Subtotals.Subtotal.Low)
		row("Before contingency", "%s", d.Cost.Total.Low)
	}
	switch {
	case d.Weeks != nil:
		row("Duration", "%.1f weeks", *d.Weeks)
	case d.Timeline != nil:
		row("Duration", "%.1f weeks", d.Timeline.Weeks)
	}
	if s := d.scores(); s != "" {
		row("Scores", "%s", s)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("lay out the result: %w", err)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

func (d *document) finalRows(row func(name, format string, args ...any)) {
	b, x := d.Final.Breakdown, d.Final.Executive
	row("Direct cost", "%s", b.Direct)
	row("Overhead and profit", "%s", b.Overhead+b.Profit)
	row("Permits and tax", "%s", b.Permits+b.Taxes)
	row("Contingency", "%s  (%.1f %%)", b.Contingency, x.ContingencyPct)
	row("Total", "%s", orElse(d.Total, x.TotalCost))
	row("P50 / P80 / P90", "%s / %s / %s", orElse(d.P50, x.Range.P50), orElse(d.P80, x.Range.P80), orElse(d.P90, x.Range.P90))
}

// totalRows shows the total of a result whose final output is elsewhere.
func (d *document) totalRows(row func(name, format string, args ...any)) {
	row("Total", "%s", *d.Total)
	if d.P50 != nil && d.P80 != nil && d.P90 != nil {
		row("P50 / P80 / P90", "%s / %s / %s", *d.P50, *d.P80, *d.P90)
	}
}

func orElse(c *money.Cents, otherwise money.Cents) money.Cents {
	if c == nil {
		return otherwise
	}
	return *c
}

func (d *document) title() string {
	words := []string{d.ID}
	if d.ProjectName != "" {
		words = append(words, plain(d.ProjectName))
	}
	if d.Final != nil {
		x := d.Final.Executive
		words = append(words, strings.ReplaceAll(x.ProjectType, "_", " "), fmt.Sprintf("%g sf", x.Sqft), strings.ReplaceAll(x.Finish, "_", " "))
	}
	if d.Status != "complete" {
		words = append(words, d.Status)
	}
	return strings.Join(words, " · ")
}

// scores lists the score of each agent that was judged, in pipeline order.
func (d *document) scores() string {
	var list []string
	for _, agent := range estimate.Agents {
		if score, ok := d.Pipeline.Scores[agent]; ok {
			list = append(list, fmt.Sprintf("%s %d", agent, score))
		}
	}
	return strings.Join(list, "  ")
}
