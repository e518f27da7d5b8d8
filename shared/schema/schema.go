package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"truecost.dev/shared/fault"
)

// Limits of what is compiled and checked.
const (
	MaxSize    = 64 << 10 // bytes of a schema; a whole flow is no larger
	maxDepth   = 64       // levels of a schema, whose compiler takes time by their square
	maxValues  = 4_000    // values of a schema
	maxProblem = 5        // problems a message names
	maxVisits  = 200_000  // values one check may look at, counted once per rule
	maxDigits  = 400      // digits, and decimal places, of a number
)

// home is the address of every schema. Nothing is there: references that leave
// the schema lead below it or elsewhere, and are refused.
const home = "truecost:///schema"

// anyObject is what an absent schema stands for.
const anyObject = `{"type":"object"}`

// Schema is a compiled JSON Schema, safe for use by several goroutines, which
// take turns.
type Schema struct {
	mu     sync.Mutex
	root   *jsonschema.Schema
	visits *counter
}

// Compile reads a JSON Schema, of draft 2020-12 unless its $schema says
// otherwise. Formats are asserted. None at all stands for any object. It returns
// fault.Invalid, which names the place in the schema.
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(anyObject)
	}
	if len(raw) > MaxSize {
		return nil, fault.New(fault.Invalid, "a schema has at most %d bytes, not %d", MaxSize, len(raw))
	}
	doc, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	if levels, values := measure(doc); levels > maxDepth || values > maxValues {
		return nil, fault.New(fault.Invalid, "a schema has at most %d levels and %d values, not %d and %d", maxDepth, maxValues, levels, values)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(closed{})
	if err := c.AddResource(home, doc); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "add the schema")
	}
	root, err := c.Compile(home)
	if err != nil {
		return nil, explain(doc, err)
	}
	visits := &counter{}
	if loop := prepare(root, visits); loop != "" {
		return nil, fault.New(fault.Invalid, "%sthe schema refers to itself without end", prefix(doc, loop))
	}
	return &Schema{root: root, visits: visits}, nil
}

// Check compares a document with the schema. It returns fault.Invalid naming up
// to five problems, each as the path in the document and what was wanted there.
func (s *Schema) Check(document json.RawMessage) error {
	found, err := s.Problems(document)
	if err != nil || len(found) == 0 {
		return err
	}
	return fault.New(fault.Invalid, "%s", Summary(found))
}

// Problems returns what is wrong with a document, in the order of the paths, each
// once; nothing when it fits. It returns fault.Invalid for what cannot be
// compared: no JSON, or more of it than a check may look at.
func (s *Schema) Problems(document json.RawMessage) ([]Problem, error) {
	doc, err := decode(document)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.visits.bound(func() error { return s.root.Validate(doc) })
	if err == nil {
		return nil, nil
	}
	failed, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return nil, err
	}
	return problems(doc, failed), nil
}

// Summary names the first five problems in one line.
func Summary(found []Problem) string {
	lines := make([]string, min(len(found), maxProblem))
	for i := range lines {
		lines[i] = found[i].String()
	}
	text := strings.Join(lines, "; ")
	if rest := len(found) - maxProblem; rest > 0 {
		return fmt.Sprintf("%s; and %d more", text, rest)
	}
	return text
}

// decode reads one JSON value with its numbers as they are written.
func decode(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "wanted JSON")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Invalid, "wanted one JSON value, and something follows it")
	}
	if at := tooLong(v); at != nil {
		return nil, fault.New(fault.Invalid, "%swanted a number of at most %d digits", at.prefix(), maxDigits)
	}
	return v, nil
}

// measure returns how deep a value is, and of how many values it consists.
func measure(v any) (levels, values int) {
	within := func(v any) {
		l, n := measure(v)
		levels, values = max(levels, l), values+n
	}
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			within(member)
		}
	case []any:
		for _, element := range v {
			within(element)
		}
	}
	return levels + 1, values + 1
}

// tooLong returns the path of a number that exact arithmetic would need too much
// memory for, or nil.
func tooLong(v any) path {
	switch v := v.(type) {
	case json.Number:
		digits, exponent, _ := strings.Cut(strings.ToLower(v.String()), "e")
		e, err := strconv.Atoi(strings.TrimPrefix(exponent, "+"))
		if exponent != "" && err != nil || len(digits) > maxDigits || e > maxDigits || e < -maxDigits {
			return path{}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if at := tooLong(v[name]); at != nil {
				return append(path{step{name: name}}, at...)
			}
		}
	case []any:
		for i, element := range v {
			if at := tooLong(element); at != nil {
				return append(path{step{index: i, element: true}}, at...)
			}
		}
	}
	return nil
}

// closed is a loader that loads nothing.
type closed struct{}

var errClosed = errors.New("a schema refers to nothing outside itself")

func (closed) Load(string) (any, error) { return nil, errClosed }

// counter bounds the work of one check.
type counter struct{ left int }

type exceeded struct{}

// Validate is called once per value and rule.
func (c *counter) Validate(*jsonschema.ValidatorContext, any) {
	if c.left--; c.left < 0 {
		panic(exceeded{}) // the validator has no other way out; bound catches it
	}
}

func (c *counter) bound(check func() error) (err error) {
	c.left = maxVisits
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exceeded:
			err = fault.New(fault.Invalid, "the document needs more than %d comparisons with its schema", maxVisits)
		default:
			panic(p)
		}
	}()
	return check()
}
