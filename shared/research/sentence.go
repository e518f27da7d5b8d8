package research

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a sentence that can be quoted, in characters and words.
const (
	longSentence  = 500
	shortSentence = 25
	fewWords      = 8 // fewer without a full stop are a heading or a button
)

// sentences returns the sentences of a cleaned text in their order. Each is a
// part of one of its lines, letter for letter.
func sentences(text string) []string {
	var found []string
	for line := range strings.SplitSeq(text, "\n") {
		for line = strings.TrimSpace(line); line != ""; {
			end := sentenceEnd(line)
			if s := strings.TrimSpace(line[:end]); quotable(s) {
				found = append(found, s)
			}
			line = strings.TrimSpace(line[end:])
		}
	}
	return found
}

// sentenceEnd returns where the first sentence of a line ends: at a full stop
// with a new beginning behind it, or at the last space before it gets too long.
func sentenceEnd(line string) int {
	count, space := 0, 0
	for i, r := range line {
		count++
		if r == ' ' {
			space = i
		}
		if count > longSentence {
			if space > 0 {
				return space
			}
			return i
		}
		if !strings.ContainsRune(".!?…。！？", r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		for end < len(line) {
			next, size := utf8.DecodeRuneInString(line[end:])
			if !strings.ContainsRune(`.!?…"'”’)]»`, next) {
				break
			}
			end += size
		}
		if strings.ContainsRune("。！？", r) || begins(line[end:]) && (r != '.' || !abbreviated(line[:i])) {
			return end
		}
	}
	return len(line)
}

// begins reports whether a new sentence begins behind a full stop.
func begins(rest string) bool {
	if rest == "" {
		return true
	}
	if rest[0] != ' ' {
		return false
	}
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, ` "'“‘(«[`))
	return !unicode.IsLower(r)
}

var abbreviations = setOf(`approx art avg ave ca cf ch co corp dept dr e.g ed est etc ex fig figs ft gal hr i.e inc incl jr lb lbs lin ltd max min
	mr mrs ms no nos oz p para pp prof rev sec sq sr st u.s u.k vol vs yd`)

// abbreviated reports whether the word that a text ends with has its full stop
// from being cut short: sq. ft., No. 7, J. Smith.
func abbreviated(text string) bool {
	w := strings.ToLower(text[strings.LastIndexAny(text, " (")+1:])
	return abbreviations[w] || utf8.RuneCountInString(w) == 1 && unicode.IsLetter(firstRune(w))
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// quotable reports whether a sentence says something by itself: it is neither a
// scrap, nor a heading, nor a question.
func quotable(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, `"'”’)]»`))
	if utf8.RuneCountInString(s) < shortSentence || strings.ContainsRune("?？", last) {
		return false
	}
	return strings.ContainsRune(".!…。！", last) || len(strings.Fields(s)) >= fewWords
}
