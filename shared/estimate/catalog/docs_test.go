package catalog_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"truecost.dev/shared/estimate/catalog"
)

var update = flag.Bool("update", false, "rewrite docs/catalogue.md")

// docs/catalogue.md shows every table that prices a line, with its sources.
func TestDocumentOfTheCatalogue(t *testing.T) {
	t.Parallel()
	const name = "../../../docs/catalogue.md"
	got := document(t)
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the catalogue says: run the test with -update and read the diff", name)
	}
}

// page is a Markdown document in the making.
type page struct{ bytes.Buffer }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// grid writes a table; columns that hold numbers are aligned to the right.
func (p *page) grid(head []string, rows [][]string) {
	p.line("| %s |", strings.Join(head, " | "))
	p.WriteString("|")
	for i := range head {
		if len(rows) > 0 && number(rows[0][i]) {
			p.WriteString("---:|")
		} else {
			p.WriteString("---|")
		}
	}
	p.line("")
	for _, r := range rows {
		for i := range r {
			r[i] = strings.ReplaceAll(r[i], "|", "\\|")
		}
		p.line("| %s |", strings.Join(r, " | "))
	}
	p.line("")
}

func number(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

const preface = `# The catalogue

Generated from shared/estimate/catalog/data by ` + "`go test ./shared/estimate/catalog -update`" + `; do not edit. Edition %s, prices and rates of %d in US
dollars, national average 1.00. [SOURCES.md](../shared/estimate/catalog/data/SOURCES.md) tells how each source was read and under which licence.

Confidence: **verified** was read in a copy of the named source; **reported** was read where another document quotes it; **computed** is arithmetic on these;
**general knowledge** is professional judgement, checked for plausibility; **assumed** is a guess, so that nothing is free. Where a row states its own
confidence, that holds for its figures; source and date are those of the column. The date is the one for which the figures hold; where the source does not
say, the year they were compiled.
`

func document(t *testing.T) []byte {
	t.Helper()
	p := &page{}
	p.line(preface, catalog.Version, catalog.PriceYear)
	all := tables(t)
	p.line("## Where the figures come from\n")
	for _, x := range all {
		p.sources(x)
	}
	p.items()
	p.line("## Other tables\n\nWages, ZIP prefixes, assemblies and other names are in the files themselves.\n")
	for _, x := range all {
		switch x.name {
		case "materials", "wages", "zip3", "assemblies", "item_words", "provenance", "csi_divisions":
		default:
			p.table(x)
		}
	}
	return append(bytes.TrimRight(p.Bytes(), "\n"), '\n')
}

// sources writes what the columns of a table mean and where they come from.
func (p *page) sources(x table) {
	var rows [][]string
	for _, s := range catalog.Provenances() {
		if s.Table == x.name {
			rows = append(rows, []string{"`" + s.Column + "`", s.Meaning, s.Source, s.Date, strings.ReplaceAll(s.Confidence, "_", " ")})
		}
	}
	if rows != nil {
		p.line("### %s.csv, %d rows\n", x.name, len(x.rows))
		p.grid([]string{"column", "meaning", "source", "date", "confidence"}, rows)
	}
}

// items writes the work items by division.
func (p *page) items() {
	material, hours := catalog.ProvenanceOf("materials", "mat_typ"), catalog.ProvenanceOf("materials", "lh_typ")
	p.line("## Work items\n\nMaterial in dollars per unit (%s, %s); worker-hours per unit (%s, %s); low and high are about P10 and P90.\n",
		material.Source, material.Date, hours.Source, hours.Date)
	for _, d := range catalog.Divisions() {
		var rows [][]string
		for _, it := range catalog.Items() {
			if it.Division == d.Code {
				rows = append(rows, []string{
					it.Code, it.Name, it.Unit, number4(it.MatLow), number4(it.MatTyp), number4(it.MatHigh), number4(it.WastePct),
					number4(it.HoursLow), number4(it.HoursTyp), number4(it.HoursHigh), number4(it.Equipment), it.Trade, strings.ReplaceAll(it.Confidence, "_", " "),
				})
			}
		}
		if rows != nil {
			p.line("### %s %s\n", d.Code, d.Name)
			p.grid([]string{"code", "item", "unit", "low", "material", "high", "waste %", "low", "hours", "high", "equipment", "trade", "confidence"}, rows)
		}
	}
}

// table writes a table as it stands.
func (p *page) table(x table) {
	p.line("### %s.csv\n", x.name)
	p.grid(x.head, x.rows)
}

func number4(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
