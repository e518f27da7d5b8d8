package value

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"

	"truecost.dev/emulator/firestore/internal/resource"
)

// Compare orders any two values as the service sorts them: by type bracket
// first, then within the type. It returns 0 for values that are equal in
// queries, which includes 1 and 1.0, -0 and 0, and NaN and NaN.
func Compare(a, b *pb.Value) int {
	ka, kb := KindOf(a), KindOf(b)
	if ka != kb {
		return cmp.Compare(ka, kb)
	}
	switch ka {
	case Bool:
		return compareBool(a.GetBooleanValue(), b.GetBooleanValue())
	case Number:
		return compareNumber(a, b)
	case Timestamp:
		x, y := a.GetTimestampValue(), b.GetTimestampValue()
		return cmp.Or(cmp.Compare(x.GetSeconds(), y.GetSeconds()), cmp.Compare(x.GetNanos(), y.GetNanos()))
	case String:
		return strings.Compare(a.GetStringValue(), b.GetStringValue())
	case Bytes:
		return bytes.Compare(a.GetBytesValue(), b.GetBytesValue())
	case Reference:
		return resource.Compare(a.GetReferenceValue(), b.GetReferenceValue())
	case GeoPoint:
		x, y := a.GetGeoPointValue(), b.GetGeoPointValue()
		return cmp.Or(cmp.Compare(x.GetLatitude(), y.GetLatitude()), cmp.Compare(x.GetLongitude(), y.GetLongitude()))
	case Array:
		return slices.CompareFunc(a.GetArrayValue().GetValues(), b.GetArrayValue().GetValues(), Compare)
	case Vector:
		x, y := elements(a), elements(b)
		return cmp.Or(cmp.Compare(len(x), len(y)), slices.CompareFunc(x, y, Compare))
	case Map:
		return compareMap(a.GetMapValue().GetFields(), b.GetMapValue().GetFields())
	default: // null equals null; unset values are refused before they get here
		return 0
	}
}

// Equal tells whether a and b are equal in queries and array transforms.
func Equal(a, b *pb.Value) bool { return Compare(a, b) == 0 }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

func compareNumber(a, b *pb.Value) int {
	x, xInt := AsInt(a)
	y, yInt := AsInt(b)
	switch {
	case xInt && yInt:
		return cmp.Compare(x, y)
	case xInt:
		return compareMixed(x, b.GetDoubleValue())
	case yInt:
		return -compareMixed(y, a.GetDoubleValue())
	default:
		return cmp.Compare(a.GetDoubleValue(), b.GetDoubleValue()) // NaN sorts first and equals itself
	}
}

// compareMixed compares an integer with a double exactly: converting the
// integer would lose its low bits above 2^53.
func compareMixed(i int64, f float64) int {
	switch {
	case math.IsNaN(f) || f < math.MinInt64:
		return 1
	case f >= math.MaxInt64: // the constant rounds up to 2^63, which no int64 reaches
		return -1
	}
	whole := math.Trunc(f)
	return cmp.Or(cmp.Compare(i, int64(whole)), cmp.Compare(whole, f))
}

// compareMap compares key, value, key, value… in the order of the keys; a map
// that is a prefix of the other sorts first.
func compareMap(a, b map[string]*pb.Value) int {
	ka, kb := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))
	for i := range min(len(ka), len(kb)) {
		if c := cmp.Or(strings.Compare(ka[i], kb[i]), Compare(a[ka[i]], b[kb[i]])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(ka), len(kb))
}
