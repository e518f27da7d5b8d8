package intake

import "strings"

// choice is a closed set of words. An absent or unknown word is an error, or,
// with a fallback, a warning and the fallback.
type choice struct {
	of       []string
	code     string
	fallback string
	also     map[string]string // other words for the same thing, squashed
}

// pick returns the canonical spelling of the word at c: case, hyphens, spaces
// and underscores do not matter. It is empty after an error.
func (c cursor) pick(from choice) string {
	s := c.optional()
	if s == "" && !c.absent() && !isString(c.v) {
		return from.fallback // of the wrong type, and said so
	}
	key := squash(s)
	for _, word := range from.of {
		if squash(word) == key {
			return word
		}
	}
	if word, ok := from.also[key]; ok {
		return word
	}
	report, tail := c.fail, ""
	if from.fallback != "" {
		report, tail = c.warn, ", taken as "+from.fallback
	}
	if s == "" {
		report(from.code, list(from.of), "is missing%s", tail)
	} else {
		report(from.code, list(from.of), "%q is unknown%s", s, tail)
	}
	return from.fallback
}

// squash leaves the letters and digits of s, in lower case.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '-', '_', '\t', '.':
			return -1
		}
		return r
	}, strings.ToLower(s))
}
