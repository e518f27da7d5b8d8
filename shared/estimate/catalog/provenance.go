package catalog

import (
	"strings"
	"sync"
)

// Provenance says where the figures of a column come from, when they held, and
// how far to trust them:
//
//	verified           read in a copy of the named source
//	reported           read where another document quotes the source
//	computed           arithmetic on the two above
//	general_knowledge  professional judgement, checked for plausibility
//	assumed            a guess, so that nothing is free
//
// A row whose own confidence or status column says otherwise goes by that.
type Provenance struct {
	Table      string `csv:"table"`
	Column     string `csv:"column"` // a * stands for any letters
	Meaning    string `csv:"meaning"`
	Source     string `csv:"source"`
	Date       string `csv:"date"` // for which the figures hold; where the source does not say, when they were compiled
	Confidence string `csv:"confidence"`
}

// Provenances has a row for every column of figures.
var Provenances = sync.OnceValue(func() []Provenance { return load[Provenance]("provenance") })

// ProvenanceOf returns where the figures of a column come from; nil for a column
// that holds none. A row that names the column goes before one with a *.
func ProvenanceOf(table, column string) *Provenance {
	var wide *Provenance
	rows := Provenances()
	for i := range rows {
		switch p := &rows[i]; {
		case p.Table != table:
		case p.Column == column:
			return p
		case wide == nil && p.covers(column):
			wide = p
		}
	}
	return wide
}

func (p *Provenance) covers(column string) bool {
	before, after, any := strings.Cut(p.Column, "*")
	return any && len(column) > len(before)+len(after) && strings.HasPrefix(column, before) && strings.HasSuffix(column, after)
}
