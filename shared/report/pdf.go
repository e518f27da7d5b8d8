package report

import (
	"bytes"
	"fmt"

	"codeberg.org/go-pdf/fpdf"
)

// File is a rendered report.
type File struct {
	Bytes []byte
	Pages int
}

// PDF renders the estimate for the client or for the contractor. The same
// document gives the same bytes.
func PDF(d *Document, o Options) (File, error) {
	sections, err := o.sections()
	if err != nil {
		return File{}, err
	}
	count := 0
	for { // the first pass counts the pages, which the foot of each then names
		file, err := render(d, o, sections, count)
		if err != nil || file.Pages == count {
			return file, err
		}
		count = file.Pages
	}
}

func render(d *Document, o Options, sections []Section, count int) (File, error) {
	name := or(d.ProjectName)
	kind := "Contractor estimate"
	if o.Client {
		kind = "Project estimate"
	}
	foot := kind + " – " + name
	if date := d.Date(); !date.IsZero() {
		foot += " – " + date.Format("January 2, 2006")
	}
	r := &report{pages: newPages(kind+": "+name, foot, d.Date(), count), doc: d, client: o.Client}
	r.turn(false)
	r.cover(kind)
	for _, s := range sections {
		r.print(s)
	}
	var out bytes.Buffer
	if err := r.pdf.Output(&out); err != nil {
		return File{}, fmt.Errorf("write the PDF of %s: %w", d.ID, err)
	}
	return File{out.Bytes(), r.pdf.PageCount()}, nil
}

// report is a report as it is being written.
type report struct {
	*pages
	doc    *Document
	client bool
}

func (r *report) print(s Section) {
	switch s {
	case Executive:
		r.executive()
	case Breakdown:
		r.breakdown()
	case Bill:
		r.bill()
	case Labor:
		r.labor()
	case Schedule:
		r.schedule()
	case Risk:
		r.risk()
	case Assumptions:
		r.assumptions()
	case Plan:
		r.plan()
	}
}

// cover writes the head of the first page: the project, and the one total.
func (r *report) cover(kind string) {
	d := r.doc
	r.pdf.Bookmark(kind, 0, r.y)
	r.font(9, true, accent)
	r.put(margin, r.y+3, kind, left)
	if date := d.Date(); !date.IsZero() {
		r.font(9, false, quiet)
		r.put(margin+r.width(), r.y+3, date.Format("January 2, 2006"), right)
	}
	r.y += 12
	r.font(20, true, navy)
	for _, l := range r.wrap(or(d.ProjectName), r.width()) {
		r.need(9)
		r.put(margin, r.y, l, left)
		r.y += 9
	}
	r.y -= 3
	r.text(or(d.Address), bodyText, quiet)
	r.y += 3
	r.total()
}

// total writes the band with the total.
func (r *report) total() {
	const h = 26.0
	r.need(h + 6)
	r.box(margin, r.y, r.width(), h, navy)
	white := colour{255, 255, 255}
	name := "Total project estimate"
	if !r.client {
		name = "Grand total"
	}
	r.font(9, false, pale)
	r.put(margin+7, r.y+8, name, left)
	r.font(24, true, white)
	r.put(margin+7, r.y+19, whole(r.doc.Total()), left)
	if !r.client {
		x := margin + r.width() - 7
		for _, v := range [][2]string{{"P90", whole(r.doc.P90)}, {"P80", whole(r.doc.P80)}, {"P50", whole(r.doc.P50)}} {
			r.font(8, false, pale)
			r.put(x, r.y+8, v[0], right)
			r.font(11, true, white)
			r.put(x, r.y+18, v[1], right)
			x -= 32
		}
	}
	r.y += h + 6
	if !r.client {
		r.note("Estimate " + or(r.doc.ID))
	}
}

// diamond draws a milestone.
func (p *pages) diamond(x, y float64) {
	const a = 1.7
	p.pdf.Polygon([]fpdf.PointType{{X: x - a, Y: y}, {X: x, Y: y - a}, {X: x + a, Y: y}, {X: x, Y: y + a}}, "F")
}
