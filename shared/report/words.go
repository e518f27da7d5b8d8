package report

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// missing stands where the document has no figure.
const missing = "not available"

// internal finds what a client's report does not speak of: how a price is made,
// and how its risk is computed.
var internal = regexp.MustCompile(`(?i)monte[ -]?carlo|\bp(5|10|50|80|90|95)\b|percentile|iteration|simulat|overhead|\bprofit|markup|mark-up|margin|` +
	`contingenc|labor rate|labour rate|wage|burden|/ ?h(ou)?r?\b|per hour|general conditions|subcontract|location factor|index|escalat|` +
	`variance|correlat|catalogue|confidence [0-9]|crew|productivity|factor|profile|labor hours|hours of supervision|[0-9] % move|\bseed\b`)

// flagged is how an assumption names a field of the scope that is uncertain.
var flagged = regexp.MustCompile(`^csiScope\S* is uncertain \([^)]*\): `)

// overheadDoor is a product whose usual name has a word that clients' reports do
// without.
var overheadDoor = regexp.MustCompile(`(?i)overhead( garage)? doors?\b`)

// public keeps the sentences of a text that a client may read.
func public(text string) string {
	text = flagged.ReplaceAllString(overheadDoor.ReplaceAllString(text, "sectional door"), "To be confirmed: ")
	var kept []string
	for s := range strings.SplitAfterSeq(strings.ReplaceAll(text, "; ", ";\x00"), ". ") {
		s = strings.ReplaceAll(s, "\x00", " ")
		if !internal.MatchString(s) {
			kept = append(kept, strings.TrimSpace(s))
		}
	}
	return strings.TrimSpace(strings.Join(kept, " "))
}

// publicAll keeps what is left of each text.
func publicAll(texts []string) []string {
	var kept []string
	for _, t := range texts {
		if t = public(t); t != "" {
			kept = append(kept, t)
		}
	}
	return kept
}

// clean makes a text printable: one line, and only letters that the fonts have.
func clean(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case r == '\u200b', r == '\ufeff', unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r):
			return -1
		case !printable(r):
			return '?'
		}
		return r
	}, s)), " ")
}

// printable reports whether the fonts have r: Latin, Greek, Cyrillic and the
// usual signs.
func printable(r rune) bool {
	switch {
	case r >= 0x20 && r <= 0x17f, r >= 0x386 && r <= 0x3ce, r >= 0x400 && r <= 0x45f, r >= 0x1ea0 && r <= 0x1ef9:
		return r != 0x38b && r != 0x38d && r != 0x3a2
	}
	return strings.ContainsRune("ƒơưȘșȚț–—‘’‚“”„†‡•…‰′″‹›€™−≤≥≈≠", r)
}

// whole formats dollars for prose and summaries.
func whole(c *money.Cents) string {
	if c == nil {
		return missing
	}
	return c.Whole()
}

// or returns the text, or that it is missing.
func or(s string) string { return cmp.Or(clean(s), missing) }

// number formats a quantity with at most two decimals and groups of thousands.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return missing
	}
	v = math.Round(v*100) / 100
	s := strconv.FormatFloat(math.Abs(v), 'f', -1, 64)
	units, decimals, _ := strings.Cut(s, ".")
	for i := len(units) - 3; i > 0; i -= 3 {
		units = units[:i] + "," + units[i:]
	}
	if decimals != "" {
		units += "." + decimals
	}
	if v < 0 {
		return "-" + units
	}
	return units
}

// round1 rounds to one decimal.
func round1(v float64) float64 { return math.Round(v*10) / 10 }

// percent formats a value that is 0–100.
func percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return missing
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " %"
}

// day formats a date for readers.
func day(d estimate.Date) string {
	if d.IsZero() {
		return missing
	}
	return d.Format("Jan 2, 2006")
}

// title makes "kitchen_remodel" "Kitchen remodel".
func title(s string) string {
	s = clean(strings.ReplaceAll(s, "_", " "))
	switch s {
	case "":
		return missing
	case "none":
		return "–"
	case "hvac":
		return "HVAC"
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// spaced makes "locationFactor" "Location factor".
func spaced(s string) string {
	var words strings.Builder
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) {
			words.WriteByte(' ')
		}
		words.WriteRune(unicode.ToLower(r))
	}
	return title(words.String())
}

// counted is "1 week" or "3.5 weeks".
func counted(v float64, unit string) string {
	if v == 1 {
		return "1 " + unit
	}
	return number(v) + " " + unit + "s"
}
