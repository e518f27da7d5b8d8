package value

import (
	"fmt"
	"math"
	"strings"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/internal/resource"
)

// The limits of the service on one document.
const (
	MaxDocumentBytes = 1 << 20
	MaxValueBytes    = MaxDocumentBytes - 89
	MaxDepth         = 20
	MaxNameBytes     = 1500
	MaxIndexEntries  = 40_000
)

// documentOverhead is what a document costs beside its name and fields.
const documentOverhead = 32

// CheckDocument returns an INVALID_ARGUMENT status, worded as the service words
// it, when a document with these fields may not be stored under name.
//
// Size is the documented storage size, not the size on the wire. Index entries
// are counted for the automatic single-field indexes: two per scalar, one per
// array element.
func CheckDocument(name string, fields map[string]*pb.Value) error {
	c := checker{size: resource.Size(name) + documentOverhead}
	if err := c.fields("", fields, 0); err != nil {
		return err
	}
	if c.size > MaxDocumentBytes {
		return invalidf("maximum entity size is %d bytes", MaxDocumentBytes)
	}
	if c.entries > MaxIndexEntries {
		return invalidf("too many index entries for entity %s", name)
	}
	return nil
}

// CheckOperand validates a value that is not a field yet: an operand of an
// array transform.
func CheckOperand(property string, v *pb.Value) error {
	var c checker
	return c.value(property, v, 1)
}

// checker walks a document once and collects what the limits are about.
type checker struct {
	size    int
	entries int
}

func (c *checker) fields(prefix string, fields map[string]*pb.Value, depth int) error {
	for k, v := range fields {
		if err := checkFieldName(k); err != nil {
			return err
		}
		c.size += len(k) + 1
		path := k
		if prefix != "" {
			path = prefix + "." + k
		}
		if err := c.value(path, v, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// value checks v, which stands at the given depth (a top field stands at 1).
func (c *checker) value(path string, v *pb.Value, depth int) error {
	switch x := v.GetValueType().(type) {
	case nil:
		return invalidf("Cannot convert firestore.v1.Value with type unset.")
	case *pb.Value_TimestampValue:
		if err := x.TimestampValue.CheckValid(); err != nil {
			return invalidf("Property %s contains an invalid timestamp.", path)
		}
	case *pb.Value_ReferenceValue:
		if err := resource.CheckDocument(x.ReferenceValue); err != nil {
			return err
		}
	case *pb.Value_GeoPointValue:
		if lat, lon := x.GeoPointValue.GetLatitude(), x.GeoPointValue.GetLongitude(); !(math.Abs(lat) <= 90 && math.Abs(lon) <= 180) {
			return invalidf("Property %s contains a geo point outside of the valid range.", path)
		}
	case *pb.Value_ArrayValue:
		return c.array(path, x.ArrayValue.GetValues(), depth)
	case *pb.Value_MapValue:
		return c.nested(path, v, depth)
	}
	if max(len(v.GetStringValue()), len(v.GetBytesValue())) > MaxValueBytes {
		return invalidf("The value of property \"%s\" is longer than %d bytes.", path, MaxValueBytes)
	}
	c.scalar(scalarSize(v))
	return nil
}

// scalarSize is what a value that is no container costs in storage.
func scalarSize(v *pb.Value) int {
	switch x := v.GetValueType().(type) {
	case *pb.Value_StringValue:
		return len(x.StringValue) + 1
	case *pb.Value_BytesValue:
		return len(x.BytesValue)
	case *pb.Value_ReferenceValue:
		return resource.Size(x.ReferenceValue)
	case *pb.Value_GeoPointValue:
		return 16
	case *pb.Value_IntegerValue, *pb.Value_DoubleValue, *pb.Value_TimestampValue:
		return 8
	default: // null and bool
		return 1
	}
}

func (c *checker) scalar(size int) {
	c.size += size
	c.entries += 2
}

func (c *checker) array(path string, vs []*pb.Value, depth int) error {
	if depth > MaxDepth {
		return invalidf("Property %s contains an invalid nested entity.", path)
	}
	entries := c.entries
	for _, e := range vs {
		if KindOf(e) == Array {
			return invalidf("Cannot convert an array value in an array value.")
		}
		if err := c.value(path, e, depth+1); err != nil {
			return err
		}
	}
	c.entries = entries + len(vs)
	return nil
}

func (c *checker) nested(path string, v *pb.Value, depth int) error {
	if depth > MaxDepth {
		return invalidf("Property %s contains an invalid nested entity.", path)
	}
	if KindOf(v) == Vector {
		for _, e := range elements(v) {
			if KindOf(e) != Number {
				return invalidf("Property %s contains a vector with an element that is not a number.", path)
			}
		}
		c.size += 8 * len(elements(v))
		c.entries++
		return nil
	}
	return c.fields(path, v.GetMapValue().GetFields(), depth)
}

func checkFieldName(k string) error {
	switch {
	case k == "":
		return invalidf("The property.name is the empty string.")
	case len(k) > MaxNameBytes:
		return invalidf("The property.name is longer than %d bytes.", MaxNameBytes)
	case len(k) >= 4 && strings.HasPrefix(k, "__") && strings.HasSuffix(k, "__"):
		return invalidf("field name %s is reserved", k)
	default:
		return nil
	}
}

func invalidf(format string, args ...any) error {
	return status.Error(codes.InvalidArgument, fmt.Sprintf(format, args...))
}
