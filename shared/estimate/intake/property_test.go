package intake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"truecost.dev/shared/estimate"
)

var spellings = map[estimate.Unit][]string{
	estimate.Each:       {"ea", "EA", "Each", "per_opening", "Per Fixture"},
	estimate.LinearFoot: {"lf", "LF", "linear_feet", "Linear Feet", "linear-feet", "L.F."},
	estimate.SquareFoot: {"sf", "SF", "square_feet", "Square Feet", "sq ft", "Sq. Ft."},
	estimate.CubicYard:  {"cy", "cubic_yards", "Cubic Yards"},
	estimate.Hour:       {"hr", "Hours", "hours"},
	estimate.Day:        {"day", "Days"},
}

// How units are spelled and in which order keys stand changes nothing.
func TestSpellingAndKeyOrderChangeNothing(t *testing.T) {
	t.Parallel()
	base, _ := mustParse(t, fixture(t, "kitchen.json"))
	rapid.Check(t, func(t *rapid.T) {
		doc := document(t, "kitchen.json")
		for _, division := range doc["csiScope"].(map[string]any) {
			for _, item := range division.(map[string]any)["items"].([]any) {
				i := item.(map[string]any)
				u, _ := estimate.ParseUnit(i["unit"].(string))
				if words := spellings[u]; words != nil {
					i["unit"] = rapid.SampledFrom(words).Draw(t, "unit")
				}
			}
		}
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		got, _ := mustParse(t, shuffled(t, doc, order))
		if diff := cmp.Diff(base, got); diff != "" {
			t.Fatalf("clarification (-base +respelled):\n%s", diff)
		}
		if Seed(got) != Seed(base) {
			t.Fatal("the seed changed")
		}
	})
}

// Errors do not depend on the order of keys either.
func TestErrorsDoNotDependOnKeyOrder(t *testing.T) {
	t.Parallel()
	doc := document(t, "deck.json")
	for _, path := range []string{"timestamp", "projectBrief.location.city", "cadData.fileUrl", wood + ".status", "flags"} {
		set(t, doc, path, remove{})
	}
	_, want := Parse(written(t, doc))
	rapid.Check(t, func(t *rapid.T) {
		_, got := Parse(shuffled(t, doc, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("report (-sorted +shuffled):\n%s", diff)
		}
	})
}

// shuffled writes v with the keys of its objects in any order.
func shuffled(tb rapid.TB, v any, order *rand.Rand) []byte {
	tb.Helper()
	var b bytes.Buffer
	var write func(v any)
	write = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			var members []string
			for key, value := range v {
				var m bytes.Buffer
				outer := b
				b = m
				write(value)
				members = append(members, fmt.Sprintf("%q:%s", key, b.String()))
				b = outer
			}
			slices.Sort(members)
			order.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
			b.WriteString("{" + strings.Join(members, ",") + "}")
		default:
			raw, err := json.Marshal(v)
			if err != nil {
				tb.Fatal(err)
			}
			b.Write(raw)
		}
	}
	write(v)
	return b.Bytes()
}

func TestSeedIsTheJob(t *testing.T) {
	t.Parallel()
	base, _ := mustParse(t, fixture(t, "kitchen.json"))
	items := wood + ".items"
	tests := []struct {
		name  string
		path  string
		value any
		same  bool
	}{
		{"estimate id", "estimateId", "another", true},
		{"project id", "projectId", "another", true},
		{"timestamp", "timestamp", "2027-01-01T00:00:00Z", true},
		{"project name", "projectBrief.projectName", "Smith", true},
		{"file address", "cadData.fileUrl", "gs://b/other.pdf", true},
		{"message count", "conversation.messageCount", 3, true},
		{"line id", items + "[0].id", "06-900", true},
		{"order of lines", items, reversed(t, items), true},
		{"order of walls", space + ".walls", reversed(t, space+".walls"), true},
		{"unknown member", "inferenceMetadata", 1, true},
		{"quantity", items + "[0].quantity", 18, false},
		{"unit", items + "[0].unit", "ea", false},
		{"zip", "projectBrief.location.zipCode", "80205", false},
		{"finish", "projectBrief.scopeSummary.finishLevel", "luxury", false},
		{"profit", "projectBrief.costPreferences.profitPct", 0.11, false},
		{"start", "projectBrief.timeline.desiredStart", "2026-06-01", false},
		{"exclusions", "projectBrief.exclusions", []any{"Furniture"}, false},
		{"wall", space + ".walls[0].length", 17, false},
		{"kitchen block", "cadData.kitchenSpecific.countertops.totalSqft", 70, false},
	}
	for _, tt := range tests {
		c, _ := mustParse(t, changed(t, "kitchen.json", map[string]any{tt.path: tt.value}))
		if got := Seed(c) == Seed(base); got != tt.same {
			t.Errorf("%s changed: same seed = %v, want %v", tt.name, got, tt.same)
		}
	}
	if again, _ := mustParse(t, fixture(t, "kitchen.json")); !cmp.Equal(base, again) {
		t.Error("Seed changed what it was given")
	}
}

// reversed returns the array at path of the kitchen, last element first.
func reversed(tb rapid.TB, path string) []any {
	tb.Helper()
	var at any = document(tb, "kitchen.json")
	for key := range strings.SplitSeq(path, ".") {
		at = at.(map[string]any)[key]
	}
	list := slices.Clone(at.([]any))
	slices.Reverse(list)
	return list
}
