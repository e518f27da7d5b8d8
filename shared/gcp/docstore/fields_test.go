package docstore

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// anyJSON draws a value that JSON can hold, with names and depths that Firestore
// cannot.
func anyJSON(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(),
		rapid.Float64Range(-1e300, 1e300).AsAny(), rapid.Int64().AsAny(),
	}
	if depth > 0 {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "__x__", "a.b", "`", "a/b"}))
		leaves = append(leaves,
			rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(depth - 1) }), 0, 3).AsAny(),
			rapid.MapOfN(name, rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(depth - 1) }), 0, 3).AsAny())
	}
	return rapid.OneOf(leaves...)
}

func decoded(t *rapid.T, b []byte) any {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVisibleAndBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, err := json.Marshal(anyJSON(4).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		v, encoding, err := visible(b)
		if err != nil {
			t.Fatal(err)
		}
		if !storable(v, 1) {
			t.Errorf("visible(%s) cannot be stored", b)
		}
		back, err := raw(v, encoding)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded(t, b), decoded(t, back)); diff != "" {
			t.Errorf("%s came back (-in +out):\n%s", b, diff)
		}
	})
}

func TestCompressAndBack(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, compressAbove, compressAbove + 1, 1 << 20} {
		packed, encoding, err := compress([]byte(strings.Repeat("x", n)))
		if err != nil {
			t.Fatal(err)
		}
		if small := n <= compressAbove; small != (encoding == "") {
			t.Errorf("%d bytes have the encoding %q", n, encoding)
		}
		back, err := unpack(packed, encoding)
		if err != nil || len(back) != n {
			t.Errorf("%d bytes came back as %d: %v", n, len(back), err)
		}
	}
	if _, err := unpack([]byte("no gzip"), "gzip"); err == nil {
		t.Error("unpack of what is no gzip is no error")
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	// Firestore's own rules: a text has a byte more than its length, a number or a
	// time 8, a map 32 and its names a byte more.
	for _, tt := range []struct {
		json string
		want int
	}{
		{`null`, 1}, {`true`, 1}, {`7`, 8}, {`7.5`, 8}, {`"ab"`, 3}, {`[1,"a",null]`, 11}, {`{}`, 32}, {`{"a":1,"bc":{"d":"e"}}`, 32 + 2 + 8 + 3 + 32 + 2 + 2},
	} {
		v, err := value([]byte(tt.json))
		if err != nil {
			t.Fatal(err)
		}
		if got := size(v); got != tt.want {
			t.Errorf("size(%s) = %d, want %d", tt.json, got, tt.want)
		}
	}
}

func TestSafeID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"p1", "kitchen-2026", "A_b~c.d"} {
		if got := safeID(id); got != id {
			t.Errorf("safeID(%q) = %q, want it as it is", id, got)
		}
	}
	seen := map[string]string{}
	for _, id := range []string{"a/b", "a%2Fb", ".", "%.", "..", "__a__", "____", "%__a__", "ü", strings.Repeat("x", 2000), strings.Repeat("x", 2001), strings.Repeat("ü", 400)} {
		got := safeID(id)
		reserved := len(got) >= 4 && strings.HasPrefix(got, "__") && strings.HasSuffix(got, "__")
		if got == "." || got == ".." || strings.Contains(got, "/") || len(got) > 1500 || reserved {
			t.Errorf("safeID(%.20q) = %.40q, which Firestore does not take", id, got)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("safeID(%.20q) = safeID(%.20q)", id, other)
		}
		seen[got] = id
	}
}

// What an older run may have had and has no more is taken out of its document:
// every member that can be left out is among vanishing.
func TestVanishing(t *testing.T) {
	t.Parallel()
	known := vanishing(&runner.Run{})
	for _, part := range []reflect.Type{reflect.TypeFor[engine.State](), reflect.TypeFor[runner.Journal](), reflect.TypeFor[runner.Shown]()} {
		for f := range part.Fields() {
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if (option == "omitempty") != slices.Contains(known, name) {
				t.Errorf("member %s, %q: known to vanish is %t", name, option, slices.Contains(known, name))
			}
		}
	}
}
