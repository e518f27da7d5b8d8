package main

import (
	"strings"
	"unicode"
)

// plain returns text of users and services as one line that a terminal prints
// and does not obey: what is neither a character nor a space is replaced.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		default:
			return unicode.ReplacementChar
		}
	}, text)
}

// plainLines is plain for text whose line breaks are ours.
func plainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = plain(line)
	}
	return strings.Join(lines, "\n")
}
