package card

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"truecost.dev/shared/fault"
)

// The examples of RFC 8785, sections 3.2.2 and 3.2.3, and some of our own.
func TestCanonical(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/canonical.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := txtar.Parse(raw).Files
	if len(files) < 8 || len(files)%2 != 0 {
		t.Fatalf("%d files, want pairs of in and want", len(files))
	}
	for i := 0; i < len(files); i += 2 {
		want := strings.TrimSuffix(string(files[i+1].Data), "\n")
		got, err := Canonical(files[i].Data)
		if err != nil || string(got) != want {
			t.Errorf("Canonical(%s) = %s, %v\nwant %s", files[i].Name, got, err, want)
			continue
		}
		if again, err := Canonical(got); err != nil || string(again) != want {
			t.Errorf("Canonical(Canonical(%s)) = %s, %v, want the same", files[i].Name, again, err)
		}
	}
}

// Appendix B of RFC 8785: IEEE doubles and how they are written.
func TestNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	}
	for _, tt := range tests {
		if got := string(appendNumber(nil, math.Float64frombits(tt.bits))); got != tt.want {
			t.Errorf("appendNumber(%016x) = %s, want %s", tt.bits, got, tt.want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"nothing", ``, "not JSON"},
		{"two values", `{} {}`, "not JSON"},
		{"no UTF-8", "\"\xff\"", "not UTF-8"},
		{"a name twice", `{"a":{"b":1,"b":2}}`, `"b" occurs twice`},
		{"a name twice, escaped", `{"a":1,"\u0061":2}`, `"a" occurs twice`},
		{"the first half of a pair", `"\ud83d"`, "surrogate"},
		{"the second half of a pair", `"\ude00"`, "surrogate"},
		{"a pair turned round", `"\ude00\ud83d"`, "surrogate"},
		{"half a pair before a letter", `"\ud83d\u0041"`, "surrogate"},
		{"beyond a double", `[1e400]`, "beyond a double"},
		{"deep", strings.Repeat("[", 65) + strings.Repeat("]", 65), "nests deeper"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Canonical([]byte(tt.in))
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Canonical(%.40s) = %s, %v, want an error with %q", tt.in, got, err, tt.want)
			}
		})
	}
	if got, err := Canonical([]byte(`"\\ud83d"`)); err != nil || string(got) != `"\\ud83d"` {
		t.Errorf("an escaped backslash before ud83d = %s, %v, want it untouched", got, err)
	}
}

// A canonical form is JSON, is its own canonical form, and means the same.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":[1,2.50,-0],"a":{"é":null,"😀":true}}`, `"\ud83d\ude00\u2028\u001f\/"`, `[1e21,1e-7,123456789012345678901]`, `{"a":1,"a":2}`, `"\ud83d"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		once, err := Canonical(in)
		if err != nil {
			return
		}
		twice, err := Canonical(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("Canonical(%q) = %q, whose own is %q, %v", in, once, twice, err)
		}
		var a, b any
		if err := json.Unmarshal(in, &a); err != nil {
			t.Fatalf("%q is no JSON and has a canonical form", in)
		}
		if err := json.Unmarshal(once, &b); err != nil {
			t.Fatalf("the canonical form %q is no JSON", once)
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) && !strings.Contains(string(in), "-0") {
			t.Fatalf("%q means %s, its canonical form %s", in, x, y)
		}
	})
}
