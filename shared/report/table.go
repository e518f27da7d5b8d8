package report

import "slices"

// column of a table. Weight is its part of the width.
type column struct {
	head   string
	weight float64
	right  bool
}

// row of a table. A strong one is bold below a rule: a sum.
type row struct {
	cells  []string
	strong bool
	group  bool // a heading inside the table, its first cell over the whole width
}

// grid is a table as it is being written.
type grid struct {
	*pages
	columns []column
	widths  []float64
	size    float64
	shade   bool
}

const (
	gap      = 3.0  // between two columns
	cellRoom = 1.1  // above and below the text of a cell
	tallRow  = 40.0 // a row that is higher may go on on the next page
)

// table writes rows under a head, which every further page repeats. Only
// a tall row is broken between its lines.
func (p *pages) table(columns []column, rows []row) {
	if len(rows) == 0 {
		p.paragraph(title(missing) + ".")
		return
	}
	g := &grid{pages: p, columns: columns, size: tableText}
	sum := 0.0
	for _, c := range columns {
		sum += c.weight
	}
	for _, c := range columns {
		g.widths = append(g.widths, c.weight/sum*p.width())
	}
	first := g.lines(rows[0])
	p.need(g.height(g.heads()) + min(g.height(first), tallRow) + 4)
	g.printHead()
	for i := range rows {
		g.print(rows[i], i+1 < len(rows) && rows[i].group)
	}
	p.line(margin, p.y, margin+p.width(), p.y, rule, 0.2)
	p.y += 4
}

func (g *grid) step() float64 { return g.size * point * 1.25 }

func (g *grid) heads() [][]string {
	g.font(g.size, true, ink)
	all := make([][]string, len(g.columns))
	for i, c := range g.columns {
		all[i] = g.wrap(c.head, g.widths[i]-gap)
	}
	return all
}

// lines breaks the cells of a row.
func (g *grid) lines(r row) [][]string {
	g.font(g.size, r.strong || r.group, ink)
	if r.group {
		return [][]string{g.wrap(r.cells[0], g.width()-gap)}
	}
	all := make([][]string, len(g.columns))
	for i := range g.columns {
		if i < len(r.cells) {
			all[i] = g.wrap(r.cells[i], g.widths[i]-gap)
		}
	}
	return all
}

func (g *grid) height(cells [][]string) float64 {
	most := 1
	for _, c := range cells {
		most = max(most, len(c))
	}
	return float64(most)*g.step() + 2*cellRoom
}

func (g *grid) printHead() {
	cells := g.heads()
	h := g.height(cells)
	g.box(margin, g.y, g.width(), h, navy)
	g.font(g.size, true, colour{255, 255, 255})
	g.cells(cells, h)
	g.shade = false
}

// print writes a row. One that heads others stays with the next.
func (g *grid) print(r row, stays bool) {
	cells := g.lines(r)
	h := g.height(cells)
	room := h
	if stays {
		room += g.step() + 2*cellRoom
	}
	if h > tallRow && g.y+h > g.bottom() {
		g.long(r, cells)
		return
	}
	if g.need(room) {
		g.printHead()
	}
	switch {
	case r.group:
		g.box(margin, g.y, g.width(), h, pale)
		g.shade = false
	case r.strong:
		g.line(margin, g.y, margin+g.width(), g.y, navy, 0.3)
	case g.shade:
		g.box(margin, g.y, g.width(), h, band)
	}
	g.shade = !g.shade && !r.group
	g.font(g.size, r.strong || r.group, ink)
	g.cells(cells, h)
}

// long writes a row in parts, each as long as its page has room.
func (g *grid) long(r row, cells [][]string) {
	for {
		most := int((g.bottom() - g.y - 2*cellRoom) / g.step())
		if most < 3 {
			g.turn(g.wide)
			g.printHead()
			continue
		}
		part, rest := make([][]string, len(cells)), false
		for i, c := range cells {
			n := min(most, len(c))
			part[i], cells[i] = c[:n], c[n:]
			rest = rest || len(cells[i]) > 0
		}
		h := g.height(part)
		g.font(g.size, r.strong || r.group, ink)
		g.cells(part, h)
		if !rest {
			return
		}
	}
}

// cells writes lines of text side by side in the font that is set, and goes down
// by h.
func (g *grid) cells(cells [][]string, h float64) {
	x := margin
	for i, lines := range cells {
		for n, l := range lines {
			y := g.y + cellRoom + float64(n+1)*g.step() - g.step()*0.24
			if len(cells) > 1 && g.columns[i].right {
				g.put(x+g.widths[i]-gap/2, y, l, right)
			} else {
				g.put(x+gap/2, y, l, left)
			}
		}
		x += g.widths[i]
	}
	g.y += h
}

// facts writes names and what they are, in two columns of pairs.
func (p *pages) facts(pairs [][2]string) {
	half := p.width() / 2
	step := tableText * point * 1.25
	for two := range slices.Chunk(pairs, 2) {
		most := 1
		var lines [][]string
		p.font(bodyText, true, ink)
		for _, pair := range two {
			lines = append(lines, p.wrap(pair[1], half-4))
			most = max(most, len(lines[len(lines)-1]))
		}
		h := step + float64(most)*bodyText*point*1.25 + 2.5
		p.need(h)
		for k, value := range lines {
			x := margin + float64(k)*half
			p.font(tableText, false, quiet)
			p.put(x, p.y+step*0.8, title(two[k][0]), left)
			p.font(bodyText, true, ink)
			for n, l := range value {
				p.put(x, p.y+step+float64(n+1)*bodyText*point*1.25-0.8, l, left)
			}
		}
		p.y += h
	}
	p.y += 2
}
