package card

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// maxNesting bounds the depth of a card from outside.
const maxNesting = 64

// Canonical returns the canonical form of a JSON text (RFC 8785): members sorted
// by their UTF-16 code units, numbers as ECMAScript writes doubles, strings with
// the fewest escapes. It returns fault.Invalid for what has no such form: text
// that is no JSON or no UTF-8, a name that occurs twice in an object, half a
// surrogate pair, a number beyond a double, nesting beyond 64.
func Canonical(text []byte) ([]byte, error) {
	v, err := parse(text)
	if err != nil {
		return nil, err
	}
	return appendValue(nil, v), nil
}

// parse reads a JSON text into maps, slices, strings, float64, bool and nil.
func parse(text []byte) (any, error) {
	switch {
	case !utf8.Valid(text):
		return nil, fault.New(fault.Invalid, "the text is not UTF-8")
	case !json.Valid(text):
		return nil, fault.New(fault.Invalid, "the text is not JSON")
	case wire.Nesting(text) > maxNesting:
		return nil, fault.New(fault.Invalid, "the text nests deeper than %d", maxNesting)
	case !paired(text):
		return nil, fault.New(fault.Invalid, "a string has half a surrogate pair")
	}
	return value(json.NewDecoder(bytes.NewReader(text)))
}

func value(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil { // a number beyond a double, since the text is JSON
		return nil, fault.Wrap(fault.Invalid, err, "a number is beyond a double")
	}
	switch t {
	case json.Delim('{'):
		return object(d)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := value(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err //nolint:wrapcheck // nil: the text is JSON
	}
	return t, nil
}

func object(d *json.Decoder) (any, error) {
	members := map[string]any{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("read a name: %w", err)
		}
		name, _ := t.(string)
		if _, twice := members[name]; twice {
			return nil, fault.New(fault.Invalid, "the name %q occurs twice in an object", name)
		}
		if members[name], err = value(d); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return members, err //nolint:wrapcheck // nil: the text is JSON
}

// paired reports whether every \u escape of a surrogate in a JSON text has its
// other half: the decoder would replace a lone one without a word.
func paired(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		if text[i] != 'u' {
			continue
		}
		r := unit(text[i+1:])
		i += 4
		if !utf16.IsSurrogate(r) {
			continue
		}
		if i+6 >= len(text) || text[i+1] != '\\' || text[i+2] != 'u' || utf16.DecodeRune(r, unit(text[i+3:])) == utf8.RuneError {
			return false
		}
		i += 6
	}
	return true
}

// unit reads four hexadecimal digits.
func unit(digits []byte) rune {
	var b [2]byte
	_, _ = hex.Decode(b[:], digits[:4]) // digits: the text is JSON
	return rune(b[0])<<8 | rune(b[1])
}

// solid returns v without what is empty: null, "", [] and {}, and what is left
// empty without those; ok is false when nothing is left of v itself.
func solid(v any) (kept any, ok bool) {
	switch v := v.(type) {
	case nil:
		return nil, false
	case string:
		return v, v != ""
	case []any:
		list := []any{}
		for _, e := range v {
			if e, ok := solid(e); ok {
				list = append(list, e)
			}
		}
		return list, len(list) > 0
	case map[string]any:
		members := map[string]any{}
		for name, m := range v {
			if m, ok := solid(m); ok {
				members[name] = m
			}
		}
		return members, len(members) > 0
	}
	return v, true
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case float64:
		return appendNumber(b, v)
	case string:
		return appendString(b, v)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, e)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, name := range slices.SortedFunc(maps.Keys(v), byUnits) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, name), ':')
			b = appendValue(b, v[name])
		}
		return append(b, '}')
	}
	panic(fmt.Sprintf("card: a JSON text has no %T", v))
}

// byUnits orders names by UTF-16 code units, which differs from the order of
// bytes beyond the basic plane.
func byUnits(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// appendNumber writes a double as ECMAScript's Number::toString does.
func appendNumber(b []byte, f float64) []byte {
	if f == 0 {
		return append(b, '0') // minus zero too
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); b[n-4] == 'e' && b[n-2] == '0' { // e-07: one digit is enough
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// appendString escapes what JSON demands and nothing more.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\':
			b = append(b, '\\', c)
		case c >= ' ':
			b = append(b, c)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c == '\r':
			b = append(b, `\r`...)
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return append(b, '"')
}
