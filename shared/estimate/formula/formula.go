package formula

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Eval computes a formula over named drivers: numbers, names,
// + - * / ( ), sqrt, ceil, min and max. It returns an error for any other text,
// for a name that drivers lack, and for a result that is not finite.
func Eval(formula string, drivers map[string]float64) (float64, error) {
	p := parser{text: strings.ReplaceAll(formula, " ", ""), drivers: drivers}
	v := p.sum(0)
	if p.err == nil && p.at < len(p.text) {
		p.fail("unexpected %q", p.text[p.at:])
	}
	if p.err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		p.fail("no finite result")
	}
	if p.err != nil {
		return 0, fmt.Errorf("evaluate %q: %w", formula, p.err)
	}
	return v, nil
}

// maxDepth bounds the nesting of a formula.
const maxDepth = 50

type parser struct {
	text    string
	at      int
	drivers map[string]float64
	err     error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
		p.at = len(p.text)
	}
}

func (p *parser) next(set string) byte {
	if p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0 {
		p.at++
		return p.text[p.at-1]
	}
	return 0
}

func (p *parser) sum(depth int) float64 {
	if depth > maxDepth {
		p.fail("nested too deeply")
		return 0
	}
	v := p.product(depth)
	for {
		switch p.next("+-") {
		case '+':
			v += p.product(depth)
		case '-':
			v -= p.product(depth)
		default:
			return v
		}
	}
}

func (p *parser) product(depth int) float64 {
	v := p.factor(depth)
	for {
		switch p.next("*/") {
		case '*':
			v *= p.factor(depth)
		case '/':
			v /= p.factor(depth)
		default:
			return v
		}
	}
}

func (p *parser) factor(depth int) float64 {
	if p.next("-") != 0 {
		if depth > maxDepth {
			p.fail("nested too deeply")
			return 0
		}
		return -p.factor(depth + 1)
	}
	if p.next("(") != 0 {
		v := p.sum(depth + 1)
		p.expect(')')
		return v
	}
	word := p.word()
	if n, err := strconv.ParseFloat(word, 64); err == nil && word[0] >= '0' && word[0] <= '9' {
		return n
	}
	if p.next("(") != 0 {
		return p.call(word, depth)
	}
	v, ok := p.drivers[word]
	if !ok {
		p.fail("no driver %q", word)
	}
	return v
}

func (p *parser) call(name string, depth int) float64 {
	args := []float64{p.sum(depth + 1)}
	for p.next(",") != 0 {
		args = append(args, p.sum(depth+1))
	}
	p.expect(')')
	switch {
	case name == "sqrt" && len(args) == 1:
		return math.Sqrt(args[0])
	case name == "ceil" && len(args) == 1:
		return math.Ceil(args[0])
	case name == "min" && len(args) == 2:
		return min(args[0], args[1])
	case name == "max" && len(args) == 2:
		return max(args[0], args[1])
	}
	p.fail("no function %s of %d arguments", name, len(args))
	return 0
}

func (p *parser) expect(c byte) {
	if p.next(string(c)) == 0 {
		p.fail("missing %q", c)
	}
}

// word reads a number or a name: a run of letters, digits, dots and underscores.
func (p *parser) word() string {
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			break
		}
		p.at++
	}
	if p.at == start {
		p.fail("a number or a name is missing at %d", start)
		return "?"
	}
	return p.text[start:p.at]
}
