package accuracy

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/pricing"
)

// Tolerance is how far the price of a usual job may be from its check price.
const Tolerance = 0.02

// Row is a project type at its default drivers.
type Row struct {
	Project    string
	Lines      int
	Hours      float64 // worker-hours
	CheckHours float64
	Price      money.Cents
	CheckPrice float64 // dollars
}

// Off is the difference from the check price, as a fraction of it.
func (r Row) Off() float64 { return r.Price.Float()/r.CheckPrice - 1 }

// Within reports whether the price is within the tolerance.
func (r Row) Within() bool { return math.Abs(r.Off()) <= Tolerance }

// Table prices every project type, in the order of the catalogue.
func Table() ([]Row, error) {
	var rows []Row
	for i := range catalog.ProjectTypes() {
		p := &catalog.ProjectTypes()[i]
		ctx, err := Reference(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Key, err)
		}
		c, err := pricing.Price(ctx)
		if err != nil {
			return nil, fmt.Errorf("price %s: %w", p.Key, err)
		}
		rows = append(rows, Row{p.Key, c.LineCount, c.Subtotals.LaborHours, p.HoursCheck, c.Total.Low, p.CheckPrice})
	}
	return rows, nil
}

// Print writes the rows and a summary, and returns how many are not within the
// tolerance.
func Print(w io.Writer, rows []Row) (off int, err error) {
	var b strings.Builder
	fmt.Fprintln(&b, "project type\tlines\thours\tcheck\tprice\tcheck price\tdifference\t")
	worst := 0.0
	for _, r := range rows {
		mark := ""
		if !r.Within() {
			off++
			mark = " off"
		}
		worst = max(worst, math.Abs(r.Off()))
		fmt.Fprintf(&b, "%s\t%d\t%.0f\t%.0f\t%s\t%.0f\t%+.2f %%%s\t\n", r.Project, r.Lines, r.Hours, r.CheckHours, r.Price.Whole(), r.CheckPrice, 100*r.Off(), mark)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if _, err := io.WriteString(t, b.String()); err != nil {
		return off, fmt.Errorf("write the table: %w", err)
	}
	if err := t.Flush(); err != nil {
		return off, fmt.Errorf("write the table: %w", err)
	}
	_, err = fmt.Fprintf(w, "%d of %d project types within %.0f %%; the largest difference is %.2f %%\n", len(rows)-off, len(rows), 100*Tolerance, 100*worst)
	return off, err
}
