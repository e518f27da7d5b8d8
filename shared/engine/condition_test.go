package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		fact  any
		is    Relation
		value any
		want  bool
	}{
		{3.0, Equal, 3.0, true},
		{3.0, Equal, "3", false},
		{"wood", Equal, "wood", true},
		{true, Equal, true, true},
		{false, Equal, true, false},
		{nil, Equal, false, false},
		{3.0, NotEqual, 4.0, true},
		{3.0, NotEqual, 3.0, false},
		{nil, NotEqual, 3.0, true},
		{3.0, Less, 3.0, false},
		{2.0, Less, 3.0, true},
		{3.0, AtMost, 3.0, true},
		{3.1, AtMost, 3.0, false},
		{3.0, More, 3.0, false},
		{3.1, More, 3.0, true},
		{3.0, AtLeast, 3.0, true},
		{2.9, AtLeast, 3.0, false},
		{nil, Less, 3.0, false},
		{nil, AtMost, 3.0, false},
		{nil, AtLeast, 0.0, false},
		{"9", More, 3.0, false},
		{9.0, More, "3", false},
		{true, AtLeast, 0.0, false},
		{0.0, Present, nil, true},
		{"", Present, nil, true},
		{false, Present, nil, true},
		{nil, Present, nil, false},
		{nil, Absent, nil, true},
		{0.0, Absent, nil, false},
		{3.0, "~", 3.0, false},
	}
	for _, tt := range tests {
		c := Condition{Fact: "a.b", Is: tt.is, Value: tt.value}
		if got := c.holds(tt.fact); got != tt.want {
			t.Errorf("%v %s %v = %t, want %t", tt.fact, tt.is, tt.value, got, tt.want)
		}
	}
}

func TestFact(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", maxFact)
	tests := []struct{ in, want any }{
		{1.5, 1.5},
		{true, true},
		{"wood", "wood"},
		{long, long[:maxFact]},
		{"x" + long, "x" + long[:maxFact-2]}, // no half of a letter
		{nil, nil},
		{[]any{1.0}, nil},
		{map[string]any{}, nil},
	}
	for _, tt := range tests {
		if got := Fact(tt.in); got != tt.want {
			t.Errorf("Fact(%v) = %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	f := sound()
	for of, want := range map[string][]string{"list": {"list.count"}, "input": {"input.kind"}, "price": nil} {
		if diff := cmp.Diff(want, f.Facts(of)); diff != "" {
			t.Errorf("Facts(%s) (-want +got):\n%s", of, diff)
		}
	}
}
