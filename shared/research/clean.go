package research

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a text fit to be quoted: lines of words parted by single spaces, no
// line empty, at most limit characters. Characters that do not show are gone:
// they hide words from people, or turn them round. So are marks like [12], which
// pages have for their own notes: in an answer such a mark names a source, and
// only we may set it. Anything that is not UTF-8 is left out.
func Clean(s string, limit int) string {
	var c cleaner
	for len(s) > 0 && len(c.out) < limit {
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		if r != utf8.RuneError || size > 1 {
			c.add(r)
		}
	}
	return strings.TrimSpace(string(c.out[:min(len(c.out), limit)]))
}

// cleaner is a text that grows; gap is what parts the next word from the last: a
// space, the end of a line, or 0 for nothing.
type cleaner struct {
	out   []rune
	gap   rune
	noted bool // the gap was before a note that is gone
}

func (c *cleaner) add(r rune) {
	switch {
	case strings.ContainsRune("\n\r\u2028\u2029", r):
		c.gap, c.noted = '\n', false
	case unicode.IsSpace(r):
		if c.gap == 0 {
			c.gap = ' '
		}
		c.noted = false
	case invisible(r):
	case r == ']' && note(c.out) >= 0:
		c.out, c.gap = c.out[:note(c.out)], 0
		if n := len(c.out); n > 0 && (c.out[n-1] == ' ' || c.out[n-1] == '\n') {
			c.out, c.gap, c.noted = c.out[:n-1], c.out[n-1], true
		}
	default:
		c.word(r)
	}
}

// word adds a character that shows. What stood before a note stands before the
// full stop behind it.
func (c *cleaner) word(r rune) {
	if c.noted && strings.ContainsRune(".,;:!?)", r) {
		c.gap = 0
	}
	if c.gap != 0 && len(c.out) > 0 {
		c.out = append(c.out, c.gap)
	}
	c.out, c.gap, c.noted = append(c.out, r), 0, false
}

// Line is Clean for what stands on one line.
func Line(s string, limit int) string {
	return strings.ReplaceAll(Clean(s, limit), "\n", " ")
}

// note returns where a mark like [12 begins that ends the text, or -1. Spaces
// inside count as part of it.
func note(out []rune) int {
	i := len(out)
	for i > 0 && (unicode.IsDigit(out[i-1]) || out[i-1] == ' ') {
		i--
	}
	if i == 0 || i == len(out) || out[i-1] != '[' {
		return -1
	}
	return i - 1
}

// invisible reports whether a character does not show: controls, formats (zero
// width, direction, tags), private use, and selectors of variants.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) ||
		r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF ||
		r >= 0x180B && r <= 0x180D || r == 0x034F || r == 0x17B4 || r == 0x17B5 || r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0
}
