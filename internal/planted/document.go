package planted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Document is a JSON value that can be edited by path. Numbers keep their
// digits.
type Document struct{ root any }

// Parse reads a document.
func Parse(raw []byte) (*Document, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read a document to plant an error in: %w", err)
	}
	return &Document{v}, nil
}

// JSON writes the document.
func (d *Document) JSON() (json.RawMessage, error) { return json.Marshal(d.root) }

// steps cuts a path into names and the insides of brackets: a[0].b[id=x].c is
// a, [0, b, [id=x, c.
func steps(path string) []string {
	var out []string
	for path != "" {
		if path[0] == '[' {
			end := strings.IndexByte(path, ']')
			if end < 0 {
				end = len(path) - 1
			}
			out, path = append(out, path[:end]), path[end+1:]
			continue
		}
		path = strings.TrimPrefix(path, ".")
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		out, path = append(out, path[:end]), path[end:]
	}
	return out
}

// A place is a member of an object or an element of a list, with its concrete
// path. set replaces the value, or removes it when keep is false.
type place struct {
	path  string
	value any
	set   func(v any, keep bool)
}

// find returns the places a path means: one, or several for [*]. The last
// member of a path need not exist.
func (d *Document) find(path string) ([]place, error) {
	at := []place{{value: d.root, set: func(v any, _ bool) { d.root = v }}}
	for _, step := range steps(path) {
		var next []place
		for _, p := range at {
			next = append(next, p.step(step)...)
		}
		if len(next) == 0 {
			return nil, fmt.Errorf("%s: nothing at %q", path, strings.TrimPrefix(step, "["))
		}
		at = next
	}
	return at, nil
}

func (p place) step(step string) []place {
	switch v := p.value.(type) {
	case map[string]any:
		path := step
		if p.path != "" {
			path = p.path + "." + step
		}
		return []place{{path, v[step], func(x any, keep bool) {
			if v[step] = x; !keep {
				delete(v, step)
			}
		}}}
	case []any:
		var out []place
		for i, e := range v {
			if !strings.HasPrefix(step, "[") || !chosen(step[1:], i, e) {
				continue
			}
			out = append(out, place{fmt.Sprintf("%s[%d]", p.path, i), e, func(x any, keep bool) {
				if v[i] = x; !keep {
					p.set(append(append([]any{}, v[:i]...), v[i+1:]...), true)
				}
			}})
			if step != "[*" {
				break // the first that fits
			}
		}
		return out
	}
	return nil
}

// chosen reports whether an element is the one meant: by its number, by a member
// that equals (=) or contains (~) a text, or any (*).
func chosen(by string, i int, e any) bool {
	if by == "*" || by == strconv.Itoa(i) {
		return true
	}
	at := strings.IndexAny(by, "=~>")
	m, ok := e.(map[string]any)
	if at < 0 || !ok {
		return false
	}
	got, want := "", by[at+1:]
	switch x := m[by[:at]].(type) {
	case []any:
		n, err := strconv.Atoi(want)
		return by[at] == '>' && err == nil && len(x) > n
	case nil:
		return false
	default:
		got = fmt.Sprint(x)
	}
	switch by[at] {
	case '=':
		return got == want
	case '~':
		return strings.Contains(strings.ToLower(got), strings.ToLower(want))
	}
	a, errA := strconv.ParseFloat(got, 64)
	b, errB := strconv.ParseFloat(want, 64)
	return errA == nil && errB == nil && a > b
}

// resolve returns the concrete path of what a path selects; a member that is
// not there keeps its name.
func (d *Document) resolve(path string) string {
	found, err := d.find(path)
	if err != nil {
		return path
	}
	return found[0].path
}

// edit applies one command of the table.
func (d *Document) edit(command, path, argument string) error {
	found, err := d.find(path)
	if err != nil {
		return err
	}
	switch command {
	case "set":
		return set(found, argument)
	case "multiply", "add":
		return calculate(found, command, argument)
	case "drop":
		found[0].set(nil, false)
		return nil
	case "repeat":
		return d.repeat(path, found[0].value)
	case "swap", "copy":
		return d.exchange(command, found[0], argument)
	case "replace":
		return replace(found, argument)
	}
	return fmt.Errorf("%q is no command", command)
}

func set(found []place, argument string) error {
	d, err := Parse([]byte(argument))
	if err != nil {
		return fmt.Errorf("set to %s: %w", argument, err)
	}
	for _, p := range found {
		p.set(d.root, true)
	}
	return nil
}

// calculate multiplies or adds to a number, or to every number of an object, as
// those of a range.
func calculate(found []place, command, argument string) error {
	by, err := strconv.ParseFloat(argument, 64)
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	for _, p := range found {
		p.set(changed(p.value, func(x float64) float64 {
			if command == "add" {
				return x + by
			}
			return x * by
		}), true)
	}
	return nil
}

func changed(v any, by func(float64) float64) any {
	switch x := v.(type) {
	case json.Number:
		f, err := x.Float64()
		if err != nil {
			return v
		}
		return json.Number(strconv.FormatFloat(math.Round(by(f)*1e6)/1e6, 'f', -1, 64))
	case map[string]any:
		out := map[string]any{}
		for name, member := range x {
			out[name] = changed(member, by)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = changed(e, by)
		}
		return out
	}
	return v
}

// repeat writes an element of a list a second time, at its end.
func (d *Document) repeat(path string, element any) error {
	list := path[:strings.LastIndexByte(path, '[')]
	found, err := d.find(list)
	if err != nil {
		return err
	}
	items, ok := found[0].value.([]any)
	if !ok {
		return fmt.Errorf("%s is no list", list)
	}
	copied, err := clone(element)
	if err != nil {
		return err
	}
	found[0].set(append(append([]any{}, items...), copied), true)
	return nil
}

func clone(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("copy a value: %w", err)
	}
	d, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	return d.root, nil
}

// exchange swaps two values, or copies the first over the second.
func (d *Document) exchange(command string, from place, to string) error {
	other, err := d.find(to)
	if err != nil {
		return err
	}
	value, err := clone(from.value)
	if err != nil {
		return err
	}
	other[0].set(value, true)
	if command == "swap" {
		from.set(other[0].value, true)
	}
	return nil
}

// replace changes words in a text: old => new.
func replace(found []place, argument string) error {
	before, after, ok := strings.Cut(argument, " => ")
	for _, p := range found {
		text, is := p.value.(string)
		if !ok || !is || !strings.Contains(text, before) {
			return fmt.Errorf("%s: %v does not hold %q", p.path, p.value, before)
		}
		p.set(strings.ReplaceAll(text, before, after), true)
	}
	return nil
}
