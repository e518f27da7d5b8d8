package field

import (
	"fmt"
	"maps"
	"strings"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/internal/value"
)

// DocumentName is the pseudo field that stands for the name of a document.
const DocumentName = "__name__"

// A Path leads to a field through maps: one name per level, never empty.
type Path []string

// plain tells whether a name needs no quotes: [a-zA-Z_][a-zA-Z_0-9]*.
func plain(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// Parse reads a path as it travels: names joined by dots, those that are not
// plain identifiers in backticks, with backslash escapes for ` and \ inside.
// It returns INVALID_ARGUMENT for anything else.
func Parse(s string) (Path, error) {
	var p Path
	rest := s
	for {
		name, tail, ok := next(rest)
		if !ok {
			return nil, status.Error(codes.InvalidArgument, fmt.Sprintf("Invalid property path \"%s\". Unquoted property names must match "+
				"regex ([a-zA-Z_][a-zA-Z_0-9]*), and quoted property names must match regex (`(?:[^`\\\\]|(?:\\\\.))+`)", s))
		}
		p = append(p, name)
		if tail == "" {
			return p, nil
		}
		rest = tail[1:] // next leaves a dot in front
	}
}

// next reads one name off s; tail is "" or starts with a dot.
func next(s string) (name, tail string, ok bool) {
	if !strings.HasPrefix(s, "`") {
		name, tail = s, ""
		if i := strings.IndexByte(s, '.'); i >= 0 {
			name, tail = s[:i], s[i:]
		}
		return name, tail, plain(name)
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
			b.WriteByte(s[i])
		case '`':
			tail = s[i+1:]
			return b.String(), tail, b.Len() > 0 && (tail == "" || tail[0] == '.')
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

// ParseAll reads a mask. Order is kept.
func ParseAll(paths []string) ([]Path, error) {
	out := make([]Path, len(paths))
	for i, s := range paths {
		p, err := Parse(s)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

var escape = strings.NewReplacer("\\", "\\\\", "`", "\\`")

// String is the inverse of Parse.
func (p Path) String() string {
	names := make([]string, len(p))
	for i, n := range p {
		if names[i] = n; !plain(n) {
			names[i] = "`" + escape.Replace(n) + "`"
		}
	}
	return strings.Join(names, ".")
}

// Get returns the value at p, or nil when there is none.
func (p Path) Get(fields map[string]*pb.Value) *pb.Value {
	for _, name := range p[:len(p)-1] {
		fields = fields[name].GetMapValue().GetFields()
	}
	return fields[p[len(p)-1]]
}

// Set puts v at p, or deletes what is there when v is nil. Fields belongs to
// the caller and is changed; maps inside it are copied before they change. A
// value in the way that is no map gives way to one.
func (p Path) Set(fields map[string]*pb.Value, v *pb.Value) { p.SetIn(fields, v, Own{}) }

// Own are the maps that one caller of SetIn has copied already.
type Own map[*pb.Value]bool

// SetIn is Set for several paths in the same fields: each map is copied once.
func (p Path) SetIn(fields map[string]*pb.Value, v *pb.Value, own Own) {
	name := p[0]
	if len(p) == 1 {
		if v == nil {
			delete(fields, name)
		} else {
			fields[name] = v
		}
		return
	}
	_, isMap := fields[name].GetValueType().(*pb.Value_MapValue)
	if v == nil && !isMap {
		return
	}
	if !own[fields[name]] {
		inner := maps.Clone(fields[name].GetMapValue().GetFields())
		if inner == nil {
			inner = map[string]*pb.Value{}
		}
		fields[name] = value.NewMap(inner)
		own[fields[name]] = true
	}
	p[1:].SetIn(fields[name].GetMapValue().GetFields(), v, own)
}

// Mask returns the part of doc that lies under paths; doc itself is not changed.
func Mask(doc *pb.Document, paths []Path) *pb.Document {
	out := &pb.Document{
		Name: doc.GetName(), Fields: map[string]*pb.Value{},
		CreateTime: doc.GetCreateTime(), UpdateTime: doc.GetUpdateTime(),
	}
	for _, p := range paths {
		if v := p.Get(doc.GetFields()); v != nil {
			p.Set(out.Fields, v)
		}
	}
	return out
}
