package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// table lays out columns. On a terminal the status of a row has a color; in a
// pipe it is plain text.
type table struct {
	to    io.Writer
	text  strings.Builder
	cells *tabwriter.Writer
	color bool
}

// table begins a table on stdout.
func (c *call) table(head ...string) *table {
	return newTable(c.stdout, isTerminal(c.stdout) && c.getenv("TERM") != "dumb" && c.getenv("NO_COLOR") == "", head...)
}

func newTable(to io.Writer, color bool, head ...string) *table {
	t := &table{to: to, color: color}
	t.cells = tabwriter.NewWriter(&t.text, 0, 0, 3, ' ', 0)
	for i, word := range head {
		if word == "STATUS" {
			head[i] = t.paint(usual, word) // as wide as the cells below it
		}
	}
	t.row(head...)
	return t
}

func (t *table) row(cells ...string) {
	_, _ = io.WriteString(t.cells, strings.Join(cells, "\t")+"\n") // a builder takes everything
}

// flush writes the table, without the spaces that fill empty cells at the end.
func (t *table) flush() error {
	if err := t.cells.Flush(); err != nil {
		return fmt.Errorf("lay out the table: %w", err)
	}
	for line := range strings.Lines(t.text.String()) {
		if _, err := io.WriteString(t.to, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return fmt.Errorf("write the table: %w", err)
		}
	}
	return nil
}

// status paints the status of a run or a step.
func (t *table) status(status string) string {
	switch status {
	case "completed", "done":
		return t.paint(green, status)
	case "failed":
		return t.paint(red, status)
	case "waiting_input":
		return t.paint(yellow, status)
	default:
		return t.paint(usual, plain(status))
	}
}

// paint colors text; every color takes as many bytes as any other.
func (t *table) paint(color int, s string) string {
	if !t.color {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", color, s)
}

// clock shows a time; - is none.
func clock(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format(time.DateTime)
}

// span shows a duration with three digits or so: 840ms, 12.3s, 4m05s, 2h07m,
// 3d04h.
func span(ms int64) string {
	s := ms / 1000
	switch {
	case ms < 1000:
		return fmt.Sprintf("%dms", ms)
	case s < 60:
		return fmt.Sprintf("%d.%ds", s, ms%1000/100)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 24*3600:
		return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
	default:
		return fmt.Sprintf("%dd%02dh", s/(24*3600), s%(24*3600)/3600)
	}
}

func number(n *int) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func text(s *string) string {
	if s == nil || *s == "" {
		return "-"
	}
	return *s
}

// usd shows what was paid for models, which is often less than a cent.
func usd(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("$%.4f", v)
}
