package chart

import (
	"strings"
	"unicode"
)

// Advance widths in thousandths of the font size, after the widest of the common
// sans-serif faces, so that no text leaves its box whatever face is at hand.
const (
	thin   = 360
	narrow = 460
	normal = 640
	wide   = 1000
	square = 1050 // what is not Latin
)

// width is how wide a text may become in pixels.
func width(text string, size int) int {
	sum := 0
	for _, r := range text {
		switch {
		case strings.ContainsRune("ijl.,:;'| ", r):
			sum += thin
		case strings.ContainsRune("frtIJ()[]{}!/-", r):
			sum += narrow
		case strings.ContainsRune("mwMWOQ@%…≤≥", r):
			sum += wide
		case unicode.IsUpper(r):
			sum += 800
		case r < 0x250:
			sum += normal
		default:
			sum += square
		}
	}
	return (sum*size + 999) / 1000
}

// clip cuts a text that could be wider than most pixels, with an ellipsis.
func clip(text string, size, most int) string {
	if width(text, size) <= most {
		return text
	}
	r := []rune(text)
	for len(r) > 0 && width(string(r)+"…", size) > most {
		r = r[:len(r)-1]
	}
	return strings.TrimRight(string(r), " ") + "…"
}

// escape makes text safe between tags and in attributes, and takes out what XML
// cannot hold.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&quot;")
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case !unicode.IsPrint(r):
			b.WriteRune(unicode.ReplacementChar)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
