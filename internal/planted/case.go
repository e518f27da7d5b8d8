package planted

import (
	"fmt"
	"strings"
)

// A Case is one planted error.
type Case struct {
	Name   string
	Line   int    // of the table
	Sample string // the job it is planted in
	Alone  bool   // the scorer gets no input, only the output
	Edits  []Edit
	Want   []string // each must be the beginning of the path of a finding
}

// An Edit is a command with its path and argument; Input means the context
// rather than the output.
type Edit struct {
	Command, Path, Argument string
	Input                   bool
}

// Cases reads a table: a line that is not indented names an error, those below
// it say how it is made and where it must be found. A {name} stands for the text
// that "let name text" gave it.
func Cases(table string) ([]Case, error) {
	var list []Case
	names := []string{}
	for n, line := range strings.Split(table, "\n") {
		text := strings.NewReplacer(names...).Replace(strings.TrimSpace(line))
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
		case strings.HasPrefix(text, "let "):
			name, value, ok := strings.Cut(strings.TrimPrefix(text, "let "), " ")
			if !ok {
				return nil, fmt.Errorf("line %d: let what be what?", n+1)
			}
			names = append(names, "{"+name+"}", value)
		case line[0] != '\t':
			list = append(list, Case{Name: text, Line: n + 1, Sample: "kitchen"})
		case len(list) == 0:
			return nil, fmt.Errorf("line %d: a command without an error", n+1)
		default:
			list[len(list)-1].add(text)
		}
	}
	for _, c := range list {
		if len(c.Want) == 0 || len(c.Edits) == 0 {
			return nil, fmt.Errorf("line %d: %s: an error is made, and found somewhere", c.Line, c.Name)
		}
	}
	return list, nil
}

func (c *Case) add(text string) {
	command, rest, _ := strings.Cut(text, " ")
	switch command {
	case "in":
		c.Sample = rest
	case "alone":
		c.Alone = true
	case "want":
		c.Want = append(c.Want, rest)
	default:
		path, argument, _ := strings.Cut(rest, " ")
		inner, input := strings.CutPrefix(path, "input:")
		c.Edits = append(c.Edits, Edit{command, inner, argument, input})
	}
}
