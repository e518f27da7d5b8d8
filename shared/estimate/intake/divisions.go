package intake

import (
	"slices"
	"strings"

	"truecost.dev/shared/estimate/catalog"
)

// divisions reads a list of division codes and compares it with the divisions
// that have the status. The result is sorted and has no code twice.
func (c cursor) divisions(status string, statuses map[string]string) []string {
	if c.absent() {
		c.fail(MissingField, "an array of division codes", "is missing")
		return []string{}
	}
	if kind(c.v) != "an array" {
		c.wrongType("an array of division codes")
		return []string{}
	}
	codes := []string{}
	for _, e := range c.each() {
		code := e.optional()
		if len(code) == 1 {
			code = "0" + code
		}
		if divisionByCode(code) == nil {
			e.fail(InvalidDivision, "a code of one of the 24 divisions, as 06", "%q is no division", code)
			continue
		}
		codes = append(codes, code)
	}
	slices.Sort(codes)
	codes = slices.Compact(codes)
	c.compare(codes, status, statuses)
	return codes
}

// compare reports, in one problem, how codes differ from the divisions that
// have the status. Divisions without a legal status are not judged again.
func (c cursor) compare(codes []string, status string, statuses map[string]string) {
	var lacks, wrong, want []string
	for _, d := range catalog.Divisions() {
		actual := statuses[d.Code]
		if actual == "" {
			continue
		}
		listed := slices.Contains(codes, d.Code)
		if actual == status {
			want = append(want, d.Code)
		}
		switch {
		case actual == status && !listed:
			lacks = append(lacks, d.Code)
		case actual != status && listed:
			wrong = append(wrong, d.Code+" ("+actual+")")
		}
	}
	var says []string
	if len(lacks) > 0 {
		says = append(says, "lacks "+strings.Join(lacks, ", "))
	}
	if len(wrong) > 0 {
		says = append(says, "lists "+strings.Join(wrong, ", "))
	}
	if len(says) > 0 {
		c.fail(DivisionMismatch, "["+strings.Join(want, ", ")+"], the divisions of csiScope that are "+status,
			"%s", strings.Join(says, " and "))
	}
}

// total reads a count of divisions and compares it with what may be counted,
// when every division is there and legal.
func (c cursor) total(statuses map[string]string, may func(Coverage) []int) int {
	if c.absent() {
		c.fail(MissingField, "a count of divisions", "is missing")
		return 0
	}
	before := len(c.log.errors)
	n := c.count()
	v := coverage(statuses)
	known := v.Included + v.Excluded + v.ByOwner + v.NotApplicable
	if known < len(catalog.Divisions()) || len(c.log.errors) > before {
		return n
	}
	counts := may(v)
	if !slices.Contains(counts, n) {
		var words []string
		for _, k := range slices.Compact(counts) {
			words = append(words, format(float64(k)))
		}
		c.fail(CountMismatch, list(words)+", as counted in csiScope", "is %d", n)
	}
	return n
}

func divisionByCode(code string) *catalog.Division {
	all := catalog.Divisions()
	if i := slices.IndexFunc(all, func(d catalog.Division) bool { return d.Code == code }); i >= 0 {
		return &all[i]
	}
	return nil
}
