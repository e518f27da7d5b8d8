package engine

import (
	"fmt"
	"strings"
)

// inputRef is how references call the run's input.
const inputRef = "input"

// maxFact bounds a text that conditions compare, in bytes.
const maxFact = 200

// Condition compares one value of the run's input or of an output with a
// constant. The values are facts: the runner takes them out of payloads, the
// state keeps them, and so the decision needs no payload.
type Condition struct {
	Fact  string   `json:"fact"`            // reference to a text, a number or a boolean: {node}.{member}…, input.{member}…
	Is    Relation `json:"is"`              //
	Value any      `json:"value,omitempty"` // text, number or boolean
}

// Relation of a fact to a value.
type Relation string

// The relations. A fact that is absent is only NotEqual and Absent.
const (
	Equal    Relation = "="
	NotEqual Relation = "!="
	Less     Relation = "<"
	AtMost   Relation = "<="
	More     Relation = ">"
	AtLeast  Relation = ">="
	Present  Relation = "present"
	Absent   Relation = "absent"
)

// Facts lists the references into the output of a node ("input": of the run's
// input) that conditions of the flow read.
func (f *Flow) Facts(of string) []string {
	var refs []string
	for _, n := range f.Nodes {
		for _, c := range n.When {
			if head, _, _ := strings.Cut(c.Fact, "."); head == of {
				refs = append(refs, c.Fact)
			}
		}
	}
	return refs
}

// Fact returns v as the state keeps it: nil for what is no text, number or
// boolean, texts cut to 200 bytes.
func Fact(v any) any {
	switch v := v.(type) {
	case float64, bool:
		return v
	case string:
		return strings.ToValidUTF8(v[:min(len(v), maxFact)], "")
	default:
		return nil
	}
}

// holds reports whether every condition of a node holds.
func (n *Node) holds(s *State) bool {
	for _, c := range n.When {
		head, _, _ := strings.Cut(c.Fact, ".")
		facts := s.Facts
		if head != inputRef {
			facts = s.Nodes[head].Facts
		}
		if !c.holds(facts[c.Fact]) {
			return false
		}
	}
	return true
}

func (c Condition) holds(fact any) bool {
	switch c.Is {
	case Present:
		return fact != nil
	case Absent:
		return fact == nil
	case Equal:
		return fact == c.Value
	case NotEqual:
		return fact != c.Value
	case Less, AtMost, More, AtLeast:
	}
	have, ok := fact.(float64)
	want, number := c.Value.(float64)
	if !ok || !number {
		return false
	}
	switch c.Is {
	case Less:
		return have < want
	case AtMost:
		return have <= want
	case More:
		return have > want
	case AtLeast:
		return have >= want
	default:
		return false
	}
}

func (c *checker) condition(path string, n *Node, w Condition) {
	c.reference(path+".fact", n, w.Fact)
	if !strings.Contains(w.Fact, ".") {
		c.bad("%s.fact: %q names no member", path, w.Fact)
	}
	number, text, boolean := false, false, false
	switch v := w.Value.(type) {
	case float64:
		number = true
	case string:
		text = len(v) <= maxFact
	case bool:
		boolean = true
	}
	wanted := ""
	switch w.Is {
	case Equal, NotEqual:
		if !number && !text && !boolean {
			wanted = fmt.Sprintf("a number, a boolean or a text of at most %d bytes", maxFact)
		}
	case Less, AtMost, More, AtLeast:
		if !number {
			wanted = "a number"
		}
	case Present, Absent:
		if w.Value != nil {
			wanted = "no value"
		}
	default:
		c.bad("%s.is: %q is not one of = != < <= > >= present absent", path, w.Is)
	}
	if wanted != "" {
		c.bad("%s.value: wanted %s, not %v", path, wanted, w.Value)
	}
}
