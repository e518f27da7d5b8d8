package schema

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// path leads to a value of a document.
type path []step

type step struct {
	name    string
	index   int
	element bool // of an array: index counts, name does not
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]{0,79}$`)

// locate turns the tokens of a place into a path, and returns the value there,
// nil when there is none.
func locate(doc any, tokens []string) (path, any) {
	p := make(path, 0, len(tokens))
	for _, token := range tokens {
		var next any
		if list, ok := doc.([]any); ok {
			i, err := strconv.Atoi(token)
			if err == nil && i >= 0 && i < len(list) {
				next = list[i]
			}
			p = append(p, step{index: i, element: true})
		} else {
			members, _ := doc.(map[string]any)
			next = members[token]
			p = append(p, step{name: token})
		}
		doc = next
	}
	return p, doc
}

// member is the path of a member of the value at p.
func (p path) member(name string) path {
	return append(slices.Clone(p), step{name: name})
}

func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.element:
			fmt.Fprintf(&b, "[%d]", s.index)
		case !plainName.MatchString(s.name):
			fmt.Fprintf(&b, "[%s]", quoted(s.name))
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// prefix is the path as it stands before a sentence about it; the document
// itself has none.
func (p path) prefix() string {
	if len(p) == 0 {
		return ""
	}
	return p.String() + ": "
}

// compare orders paths by name and, within an array, by index.
func (p path) compare(q path) int {
	return slices.CompareFunc(p, q, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.name, b.name))
	})
}

// quoted is a text of a document as a message shows it: escaped and not longer
// than a line can bear.
func quoted(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
