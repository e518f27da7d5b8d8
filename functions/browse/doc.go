// Package browse is the specialist that looks things up: it searches a topic,
// reads the pages found and extracts what an instruction asks for, with citations
// that were checked. The work is done by shared/research; this package says what
// it is asked with and what it answers, and tells how far it is.
//
// It is one agent, not a family: its own check of every quote takes the place of
// a scorer.
package browse
