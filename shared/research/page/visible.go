package page

import (
	"strings"

	"golang.org/x/net/html"
)

// unread are elements whose content is no text of the page. Names, not atoms:
// readability renames elements and leaves their atoms behind.
var unread = setOf("script style noscript template head iframe object embed svg math canvas audio video form button select textarea input nav dialog")

// blocks are elements that begin and end a line.
var blocks = setOf(`p div section article main header footer aside h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table tr caption blockquote pre
	figure figcaption br hr address details summary body`)

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// Visible returns the text below a node that a page means to be read, a line for
// each block, cells of a table parted by a space. A document is at most 512
// levels deep, so walking it down is safe.
func Visible(n *html.Node) string {
	var b strings.Builder
	walk(&b, n)
	return b.String()
}

func walk(b *strings.Builder, n *html.Node) {
	switch n.Type {
	case html.TextNode:
		b.WriteString(strings.Map(onLine, n.Data))
		return
	case html.ElementNode:
		if unread[n.Data] {
			return
		}
	default:
	}
	block := blocks[n.Data]
	if block {
		b.WriteByte('\n')
	}
	for c := range n.ChildNodes() {
		walk(b, c)
	}
	switch {
	case block:
		b.WriteByte('\n')
	case n.Data == "td" || n.Data == "th":
		b.WriteByte(' ')
	}
}

// onLine makes a space of what ends a line of HTML: a line of the text is a block.
func onLine(r rune) rune {
	if strings.ContainsRune("\n\r\f\u2028\u2029", r) {
		return ' '
	}
	return r
}

// prune takes out of a page what it hides. It comes before readability, which
// takes the styles away.
func prune(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if hidden(c) {
			n.RemoveChild(c)
		} else {
			prune(c)
		}
		c = next
	}
}

// hidden reports whether a page says of an element that it is not shown.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch value := strings.ToLower(strings.TrimSpace(a.Val)); a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			if value == "true" {
				return true
			}
		case "style":
			for rule := range strings.SplitSeq(value, ";") {
				name, v, _ := strings.Cut(rule, ":")
				if hides(strings.TrimSpace(name), strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "!important"))) {
					return true
				}
			}
		}
	}
	return false
}

// hides reports whether a declaration takes an element away from the eye.
func hides(name, value string) bool {
	switch name {
	case "display":
		return value == "none"
	case "visibility":
		return value == "hidden" || value == "collapse"
	case "opacity", "font-size":
		return strings.Trim(value, "0.%pxemr") == "" && strings.Contains(value, "0")
	}
	return false
}
