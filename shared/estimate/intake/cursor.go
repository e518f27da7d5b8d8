package intake

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"truecost.dev/shared/estimate"
)

// cursor is a place in the document: a decoded JSON value (nil when absent or
// null), the path to it, and the log its reader writes to.
type cursor struct {
	log  *log
	path string
	v    any
}

// at returns the member key. Of anything but an object it is absent.
func (c cursor) at(key string) cursor {
	m, _ := c.v.(map[string]any)
	path := key
	if c.path != "$" {
		path = c.path + "." + key
	}
	return cursor{c.log, path, m[key]}
}

// first returns the first member of keys that is there, else the one named by
// the first key.
func (c cursor) first(keys ...string) cursor {
	for _, key := range keys {
		if m := c.at(key); !m.absent() {
			return m
		}
	}
	return c.at(keys[0])
}

func (c cursor) absent() bool { return c.v == nil }

func (c cursor) fail(code, wanted, format string, args ...any) {
	c.log.errors = append(c.log.errors, Problem{c.path, code, fmt.Sprintf(format, args...), wanted})
}

func (c cursor) warn(code, wanted, format string, args ...any) {
	c.log.warnings = append(c.log.warnings, Problem{c.path, code, fmt.Sprintf(format, args...), wanted})
}

func (c cursor) wrongType(wanted string) {
	c.fail(InvalidType, wanted, "is %s", kind(c.v))
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "missing"
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}

// object reports whether c is an object. An absent one is the error missing,
// or none when missing is empty.
func (c cursor) object(missing string) bool {
	if c.absent() {
		if missing != "" {
			c.fail(missing, "an object", "is missing")
		}
		return false
	}
	if _, ok := c.v.(map[string]any); !ok {
		c.wrongType("an object")
		return false
	}
	return true
}

// each returns the elements of an optional array.
func (c cursor) each() []cursor {
	if c.absent() {
		return nil
	}
	a, ok := c.v.([]any)
	if !ok {
		c.wrongType("an array")
		return nil
	}
	elements := make([]cursor, len(a))
	for i, v := range a {
		elements[i] = cursor{c.log, fmt.Sprintf("%s[%d]", c.path, i), v}
	}
	return elements
}

// text returns a required string, trimmed; an absent or blank one is the error
// missing.
func (c cursor) text(missing string) string {
	s := c.optional()
	switch {
	case c.absent():
		c.fail(missing, "a text", "is missing")
	case s == "" && isString(c.v):
		c.fail(missing, "a text", "is empty")
	}
	return s
}

func isString(v any) bool { _, ok := v.(string); return ok }

// optional returns a string, trimmed; a number is taken as its digits.
func (c cursor) optional() string {
	switch v := c.v.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	default:
		c.wrongType("a text")
		return ""
	}
}

// texts returns an array of strings, never nil.
func (c cursor) texts() []string {
	list := []string{}
	for _, e := range c.each() {
		if s := e.optional(); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// limit is the range a number must be in, and the code when it is not.
type limit struct {
	min, max float64
	code     string
}

var (
	fraction = limit{0, 1, InvalidConfidence}
	measure  = limit{0, 1e9, InvalidNumber} // a length, an area or a count
)

func (l limit) String() string {
	return fmt.Sprintf("a number from %s to %s", format(l.min), format(l.max))
}

func format(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// number returns a number, or one in a string, within l. An absent one is the
// error missing, or 0 when missing is empty. ok is false unless it was read.
func (c cursor) number(missing string, l limit) (f float64, ok bool) {
	if c.absent() {
		if missing != "" {
			c.fail(missing, l.String(), "is missing")
		}
		return 0, false
	}
	f, ok = parse(c.v)
	switch {
	case !ok && !isString(c.v) && kind(c.v) != "a number":
		c.wrongType(l.String())
	case !ok:
		c.fail(l.code, l.String(), "%q is not a number that can be used", fmt.Sprint(c.v))
	case f < l.min || f > l.max:
		c.fail(l.code, l.String(), "is %s", format(f))
		ok = false
	}
	return f, ok
}

// parse reads a finite number, or one in a string with or without separators
// of thousands. Only the grammar of JSON counts: no NaN, Inf or hexadecimal.
func parse(v any) (float64, bool) {
	var s string
	switch v := v.(type) {
	case json.Number:
		s = v.String()
	case string:
		s = strings.ReplaceAll(strings.TrimSpace(v), ",", "")
	}
	if s == "" || !strings.Contains("-0123456789", s[:1]) || !json.Valid([]byte(s)) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f + 0, err == nil && !math.IsInf(f, 0) // + 0: no negative zero
}

// measure returns an optional length, area or count.
func (c cursor) measure() float64 {
	f, _ := c.number("", measure)
	return f
}

// count returns an optional whole number.
func (c cursor) count() int {
	f := c.measure()
	if f != math.Trunc(f) {
		c.fail(InvalidNumber, "a whole number", "is %s", format(f))
	}
	return int(f)
}

// flag returns an optional boolean; the words true and false count.
func (c cursor) flag() bool {
	switch v := c.v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		if b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(v))); err == nil {
			return b
		}
	}
	c.wrongType("true or false")
	return false
}

// Years outside these are slips of the pen; a schedule runs some years on.
const firstYear, lastYear = 1900, 2200

// date returns an optional day.
func (c cursor) date() *estimate.Date {
	s := c.optional()
	if s == "" {
		return nil
	}
	d, err := estimate.ParseDate(s)
	if err != nil || d.Year() < firstYear || d.Year() > lastYear {
		c.fail(InvalidDate, "a date as 2026-05-04", "%q is not a date", s)
		return nil
	}
	return &d
}

// opaque returns a value that is kept as it is, with its keys sorted; nil when
// absent.
func (c cursor) opaque() json.RawMessage {
	if c.absent() {
		return nil
	}
	b, err := json.Marshal(c.v)
	if err != nil { // a decoded value always encodes
		c.fail(InvalidJSON, "", "%v", err)
	}
	return b
}

// opaques returns the elements of an array as they are, never nil.
func (c cursor) opaques() []json.RawMessage {
	list := []json.RawMessage{}
	for _, e := range c.each() {
		if !e.absent() {
			list = append(list, e.opaque())
		}
	}
	return list
}
