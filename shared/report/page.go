package report

import (
	_ "embed"
	"strconv"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

//go:embed font/Roboto-Regular.ttf
var regular []byte

//go:embed font/Roboto-Bold.ttf
var bold []byte

// Sizes in millimetres; a page is US letter.
const (
	letterWidth  = 215.9
	letterHeight = 279.4
	margin       = 18.0
	footRoom     = 16.0 // kept free at the bottom, for the foot
	lead         = 1.35 // height of a line in sizes of its letters
	point        = 25.4 / 72
)

// Sizes of letters in points.
const (
	tableText = 8.0
	bodyText  = 9.5
	headText  = 15.0
	subText   = 11.0
)

// colour is red, green, blue. All of them stay apart in greyscale.
type colour [3]int

var (
	ink    = colour{33, 37, 41}
	quiet  = colour{95, 103, 112}
	rule   = colour{200, 206, 212}
	band   = colour{243, 245, 248}
	navy   = colour{27, 54, 93}
	steel  = colour{120, 152, 188}
	pale   = colour{208, 220, 233}
	accent = colour{188, 84, 20}
)

// pages writes on pages from top to bottom. All lengths are millimetres.
type pages struct {
	pdf   *fpdf.Fpdf
	y     float64
	foot  string
	count int // pages in all, as the pass before found
	wide  bool
}

// newPages begins a document. The date is part of the bytes.
func newPages(title, foot string, date time.Time, count int) *pages {
	pdf := fpdf.NewCustom(&fpdf.InitType{UnitStr: "mm", Size: fpdf.SizeType{Wd: letterWidth, Ht: letterHeight}})
	p := &pages{pdf: pdf, foot: foot, count: count}
	if date.IsZero() {
		date = time.Unix(0, 0).UTC() // the library would take the clock's
	}
	pdf.SetCatalogSort(true)
	pdf.SetCreationDate(date)
	pdf.SetModificationDate(date)
	pdf.SetProducer("TrueCost", true)
	pdf.SetTitle(title, true)
	pdf.SetLang("en-US")
	pdf.SetDisplayMode("fullwidth", "continuous")
	pdf.SetMargins(margin, margin, margin)
	pdf.SetAutoPageBreak(false, 0)
	pdf.SetCellMargin(0)
	pdf.AddUTF8FontFromBytes("text", "", regular)
	pdf.AddUTF8FontFromBytes("text", "B", bold)
	pdf.SetFooterFunc(p.footer)
	return p
}

// turn begins a page, upright or wide.
func (p *pages) turn(wide bool) {
	p.wide = wide
	orientation := "P"
	if wide {
		orientation = "L"
	}
	p.pdf.AddPageFormat(orientation, fpdf.SizeType{Wd: letterWidth, Ht: letterHeight})
	p.y = margin
}

func (p *pages) width() float64 {
	w, _ := p.pdf.GetPageSize()
	return w - 2*margin
}

func (p *pages) bottom() float64 {
	_, h := p.pdf.GetPageSize()
	return h - footRoom
}

// need begins a page when less than h is left of this one, and reports whether
// it did.
func (p *pages) need(h float64) bool {
	if p.y+h <= p.bottom() {
		return false
	}
	p.turn(p.wide)
	return true
}

func (p *pages) footer() {
	w, h := p.pdf.GetPageSize()
	p.line(margin, h-footRoom+4, w-margin, h-footRoom+4, rule, 0.2)
	p.font(7.5, false, quiet)
	at := h - footRoom + 9
	number := "Page " + strconv.Itoa(p.pdf.PageNo()) + " of " + strconv.Itoa(p.count)
	p.pdf.Text(margin, at, p.fit(p.foot, w-2*margin-p.pdf.GetStringWidth(number)-6))
	p.pdf.Text(w-margin-p.pdf.GetStringWidth(number), at, number)
}

func (p *pages) font(size float64, strong bool, c colour) {
	style := ""
	if strong {
		style = "B"
	}
	p.pdf.SetFont("text", style, size)
	p.pdf.SetTextColor(c[0], c[1], c[2])
}

func (p *pages) line(x1, y1, x2, y2 float64, c colour, w float64) {
	p.pdf.SetDrawColor(c[0], c[1], c[2])
	p.pdf.SetLineWidth(w)
	p.pdf.Line(x1, y1, x2, y2)
}

func (p *pages) box(x, y, w, h float64, c colour) {
	p.pdf.SetFillColor(c[0], c[1], c[2])
	p.pdf.Rect(x, y, w, h, "F")
}

// Ways to set a text beside a point.
const (
	left   = 0.0
	centre = 0.5
	right  = 1.0
)

// put writes s in the font that is set, its base line at y.
func (p *pages) put(x, y float64, s string, side float64) {
	if s = clean(s); s != "" {
		p.pdf.Text(x-side*p.pdf.GetStringWidth(s), y, s)
	}
}

// fit cuts s to a width, with an ellipsis.
func (p *pages) fit(s string, w float64) string {
	s = clean(s)
	if p.pdf.GetStringWidth(s) <= w {
		return s
	}
	return strings.TrimSpace(s[:p.head(s, w-p.pdf.GetStringWidth("…"))]) + "…"
}

// wrap breaks s into lines of a width at most, within a word only where it is
// longer than a line.
func (p *pages) wrap(s string, w float64) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(clean(s)) {
		joined := strings.TrimSpace(current + " " + word)
		if p.pdf.GetStringWidth(joined) <= w {
			current = joined
			continue
		}
		if current != "" {
			lines = append(lines, current)
		}
		current = word
		for n := p.head(current, w); n < len(current); n = p.head(current, w) {
			lines, current = append(lines, current[:n]), current[n:]
		}
	}
	if current != "" || len(lines) == 0 {
		lines = append(lines, current)
	}
	return lines
}

// head is how many bytes of a word fit into a width, one letter at least.
func (p *pages) head(word string, w float64) int {
	used := 0.0
	for i, r := range word {
		used += p.pdf.GetStringWidth(string(r))
		if i > 0 && used > w {
			return i
		}
	}
	return len(word)
}

// section begins a part of the report with a bookmark, on a page of its shape.
func (p *pages) section(name string, wide bool) {
	if wide != p.wide {
		p.turn(wide)
	}
	p.need(50)
	if p.y > margin {
		p.y += 8
	}
	p.pdf.Bookmark(name, 0, p.y)
	p.font(headText, true, navy)
	p.y += 5
	p.put(margin, p.y, name, left)
	p.y += 2.5
	p.line(margin, p.y, margin+p.width(), p.y, navy, 0.5)
	p.y += 6
}

// sub begins a part of a section that needs so much room below its name.
func (p *pages) sub(name string, room float64) {
	p.need(room + 12)
	p.y += 3
	p.pdf.Bookmark(name, 1, p.y)
	p.font(subText, true, navy)
	p.y += 3
	p.put(margin, p.y, name, left)
	p.y += 4
}

// text writes a paragraph of letters of a size.
func (p *pages) text(s string, size float64, c colour) {
	step := size * point * lead
	p.font(size, false, c)
	lines := p.wrap(s, p.width())
	for i, l := range lines {
		room := step
		if i == 0 {
			room = step * float64(min(len(lines), 4)) // a short paragraph stays together
		}
		if p.need(room) {
			p.font(size, false, c)
		}
		p.y += step
		p.put(margin, p.y-step/4, l, left)
	}
	p.y += 1.5
}

func (p *pages) paragraph(s string) { p.text(s, bodyText, ink) }
func (p *pages) note(s string)      { p.text(s, tableText, quiet) }

// list writes points, or that there are none to be had.
func (p *pages) list(points []string) {
	if len(points) == 0 {
		p.paragraph(title(missing) + ".")
		return
	}
	step := bodyText * point * lead
	for _, s := range points {
		p.font(bodyText, false, ink)
		for i, l := range p.wrap(s, p.width()-5) {
			if p.need(step) {
				p.font(bodyText, false, ink)
			}
			p.y += step
			if i == 0 {
				p.put(margin+1, p.y-step/4, "•", left)
			}
			p.put(margin+5, p.y-step/4, l, left)
		}
		p.y += 0.8
	}
	p.y += 1.5
}
