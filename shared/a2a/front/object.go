package front

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// object is a JSON object and where it is in its request, by which errors name
// its members: fault.Invalid, "params.message.role: want ...". A member may be
// spelled as in JSON (taskId) or as in the protocol's own definition (task_id),
// as readers of its JSON mapping do. One that is null counts as absent.
type object struct {
	path    string
	members wire.Members
}

// memberPath is the path of a member at the head of a message about it.
var memberPath = regexp.MustCompile(`^([A-Za-z_]+(?:\.[A-Za-z0-9_$-]+|\[[0-9]+\])*): `)

// faulty splits a message about a member into the path of the member and what is
// wrong with it; path is empty in a message about anything else.
func faulty(message string) (path, what string) {
	if at := memberPath.FindStringSubmatch(message); at != nil {
		return at[1], message[len(at[0]):]
	}
	return "", message
}

// at returns the path of a member.
func (o object) at(name string) string { return o.path + "." + name }

// want refuses a member.
func (o object) want(name, what string) error {
	return fault.New(fault.Invalid, "%s: want %s", o.at(name), what)
}

// raw returns a member by either spelling, nil if it is absent.
func (o object) raw(name string) json.RawMessage {
	if o.members.Has(name) {
		return o.members[name]
	}
	if other := snake(name); o.members.Has(other) {
		return o.members[other]
	}
	return nil
}

// snake turns taskId into task_id.
func snake(name string) string {
	var b strings.Builder
	for _, c := range name {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// text returns a member that is a string, empty if it is absent.
func (o object) text(name string) (string, error) {
	raw := o.raw(name)
	if raw == nil {
		return "", nil
	}
	var s string
	if wire.First(raw) != '"' || json.Unmarshal(raw, &s) != nil {
		return "", o.want(name, "a string")
	}
	return s, nil
}

// name returns a member that is a string and must not be empty.
func (o object) name(name string) (string, error) {
	s, err := o.text(name)
	if err == nil && s == "" {
		return "", o.want(name, "a string that is not empty")
	}
	return s, err
}

// flag returns a member that is a boolean, false if it is absent.
func (o object) flag(name string) (bool, error) {
	switch raw := o.raw(name); string(raw) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, o.want(name, "true or false")
}

// count returns a member that is a whole number from least to most, nil if it is
// absent.
func (o object) count(name string, least, most int) (*int, error) {
	raw := o.raw(name)
	if raw == nil {
		return nil, nil
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < least || n > most {
		return nil, o.want(name, "a whole number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
	}
	return &n, nil
}

// object returns a member that is an object; ok is false if it is absent.
func (o object) object(name string) (inner object, ok bool, err error) {
	raw := o.raw(name)
	if raw == nil {
		return object{}, false, nil
	}
	members, ok := wire.Object(raw)
	if !ok {
		return object{}, false, o.want(name, "an object")
	}
	return object{o.at(name), members}, true, nil
}

// texts returns a member that is a list of strings.
func (o object) texts(name string) ([]string, error) {
	raw := o.raw(name)
	if raw == nil {
		return nil, nil
	}
	var list []*string
	if json.Unmarshal(raw, &list) != nil {
		return nil, o.want(name, "a list of strings")
	}
	texts := make([]string, len(list))
	for i, s := range list {
		if s == nil {
			return nil, o.want(name, "a list of strings")
		}
		texts[i] = *s
	}
	return texts, nil
}

// metadata returns the member metadata, an object of any values.
func (o object) metadata() (map[string]any, error) {
	const name = "metadata"
	raw := o.raw(name)
	if raw == nil {
		return nil, nil
	}
	var values map[string]any
	if wire.First(raw) != '{' || json.Unmarshal(raw, &values) != nil {
		return nil, o.want(name, "an object")
	}
	return values, nil
}
