package resource

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The limits of the service on names, in bytes.
const (
	maxName  = 6 << 10
	maxID    = 1500
	maxDepth = 100 // collections above one another
)

// nameOverhead is what a name costs in storage beside its ids.
const nameOverhead = 16

// Root returns the root of the database that name lies in
// ("projects/P/databases/D/documents") and the path below it, "" for the root
// itself. It returns INVALID_ARGUMENT for a name of another shape.
func Root(name string) (root, path string, err error) {
	parts := strings.SplitN(name, "/", 6)
	for i, want := range [...]string{0: "projects", 2: "databases", 4: "documents"} {
		if want == "" {
			continue
		}
		if i >= len(parts) || parts[i] != want {
			return "", "", invalidf("Document name \"%s\" lacks \"%s\" at index %d.", name, want, offset(parts, i))
		}
	}
	if parts[1] == "" || parts[3] == "" {
		return "", "", invalidf("Document name \"%s\" has an empty project or database.", name)
	}
	root = strings.Join(parts[:5], "/")
	if len(parts) == 6 {
		path = parts[5]
	}
	return root, path, nil
}

// offset is the byte position at which part i starts.
func offset(parts []string, i int) int {
	n := 0
	for _, p := range parts[:min(i, len(parts))] {
		n += len(p) + 1
	}
	return n
}

// Database returns the root of a database given as "projects/P/databases/D".
func Database(database string) (root string, err error) {
	root, path, err := Root(database + "/documents")
	if err != nil || path != "" {
		return "", invalidf("Invalid database name \"%s\".", database)
	}
	return root, nil
}

// CheckDocument returns INVALID_ARGUMENT unless name is the name of a document.
func CheckDocument(name string) error {
	_, path, err := Root(name)
	if err != nil {
		return err
	}
	if path == "" || strings.Count(path, "/")%2 == 0 {
		return invalidf("Document name \"%s\" must have an even number of segments below the database.", name)
	}
	return checkPath(name, path)
}

// CheckParent returns INVALID_ARGUMENT unless name is the root of a database or
// the name of a document, which are the two that have collections.
func CheckParent(name string) error {
	_, path, err := Root(name)
	if err != nil {
		return err
	}
	if path == "" {
		return nil
	}
	return CheckDocument(name)
}

func checkPath(name, path string) error {
	if len(name) > maxName {
		return invalidf("Document name is longer than %d bytes.", maxName)
	}
	segments := 0
	for id := range strings.SplitSeq(path, "/") {
		if err := CheckID(id); err != nil {
			return err
		}
		segments++
	}
	if segments > 2*maxDepth {
		return invalidf("Document name \"%s\" has more than %d levels.", name, maxDepth)
	}
	return nil
}

// CheckID returns INVALID_ARGUMENT unless id may name a collection or document.
func CheckID(id string) error {
	switch {
	case id == "":
		return invalidf("Resource id is the empty string.")
	case strings.Contains(id, "/"):
		return invalidf("Resource id \"%s\" contains a slash.", id)
	case len(id) > maxID:
		return invalidf("Resource id is longer than %d bytes.", maxID)
	case Reserved(id):
		return invalidf("Resource id \"%s\" is invalid because it is reserved.", id)
	default:
		return nil
	}
}

// Reserved tells whether the service keeps id for itself. Numeric ids
// (__id7__), which exports from older databases carry, are not reserved.
func Reserved(id string) bool {
	if id == "." || id == ".." {
		return true
	}
	if _, ok := numeric(id); ok {
		return false
	}
	return len(id) >= 4 && strings.HasPrefix(id, "__") && strings.HasSuffix(id, "__")
}

// Parent splits a document's name into its collection's name and its id.
func Parent(document string) (collection, id string) {
	i := strings.LastIndexByte(document, '/')
	return document[:i], document[i+1:]
}

// Size is what name costs in storage, in bytes: each id plus one, plus 16.
func Size(name string) int {
	_, path, err := Root(name)
	if err != nil {
		path = name
	}
	return len(path) + 1 + nameOverhead
}

// Compare orders names segment by segment, numeric ids before all others.
func Compare(a, b string) int {
	for {
		x, restA, moreA := strings.Cut(a, "/")
		y, restB, moreB := strings.Cut(b, "/")
		if c := compareID(x, y); c != 0 {
			return c
		}
		if !moreA || !moreB {
			switch {
			case moreA:
				return 1
			case moreB:
				return -1
			default:
				return 0
			}
		}
		a, b = restA, restB
	}
}

func compareID(a, b string) int {
	x, xNum := numeric(a)
	y, yNum := numeric(b)
	switch {
	case xNum && yNum:
		return cmp.Compare(x, y)
	case xNum:
		return -1
	case yNum:
		return 1
	default:
		return strings.Compare(a, b)
	}
}

// numeric returns n for an id of the form __id<n>__.
func numeric(id string) (int64, bool) {
	digits, ok := strings.CutPrefix(id, "__id")
	if !ok {
		return 0, false
	}
	digits, ok = strings.CutSuffix(digits, "__")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

func invalidf(format string, args ...any) error {
	return status.Error(codes.InvalidArgument, fmt.Sprintf(format, args...))
}
