package research

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 120)
	tests := []struct {
		text string
		want []string
	}{
		{"", nil},
		{"A bid bond is a promise. It covers the owner when a bidder walks away.", []string{"It covers the owner when a bidder walks away."}},
		{"The deck has 240 sq. ft. of cedar boards. It costs more.", []string{"The deck has 240 sq. ft. of cedar boards."}},
		{"J. Smith of Smith Co. built the house in No. 7 Elm St. in 1998.", []string{"J. Smith of Smith Co. built the house in No. 7 Elm St. in 1998."}},
		{"Concrete costs $165.50 per cubic yard today. Steel costs 1.2 dollars a pound.", []string{"Concrete costs $165.50 per cubic yard today.", "Steel costs 1.2 dollars a pound."}},
		{"He said “it will rain on the roof today.” They went home after that.", []string{"He said “it will rain on the roof today.”", "They went home after that."}},
		{"What is a performance bond in construction?", nil},
		{"How bonds work\nBuy now\nRead more about our services", nil},
		{"- bid bond: five to ten percent of the bid price", []string{"- bid bond: five to ten percent of the bid price"}},
		{"工事費は見積もりの中で最も大きな部分を占める費用である。次の文は材料費と労務費の違いについて詳しく説明している。", []string{"工事費は見積もりの中で最も大きな部分を占める費用である。", "次の文は材料費と労務費の違いについて詳しく説明している。"}},
		{long, []string{strings.TrimSpace(strings.Repeat("word ", 100)), strings.TrimSpace(strings.Repeat("word ", 20))}},
		{strings.Repeat("x", 600), nil},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, sentences(tt.text)); d != "" {
			t.Errorf("sentences(%.60q) (-want +got):\n%s", tt.text, d)
		}
	}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"What is the cost of performance bonds?":        {"cost", "performanc", "bond"},
		"the estimate, the estimates and the estimator": {"estimat", "estimat", "estimator"},
		"Owner's bid-bond (10%)":                        {"own", "bid", "bond", "10"},
		"glass classes":                                 {"glass", "class"},
		"":                                              nil,
	}
	for in, want := range tests {
		if d := cmp.Diff(want, terms(in)); d != "" {
			t.Errorf("terms(%q) (-want +got):\n%s", in, d)
		}
	}
}

const bonds = `Bonds in construction
A bid bond protects the owner when the winning bidder refuses to sign the contract. Most owners ask for it.
The weather on site was good and the crew ate lunch under the big oak tree.
The penal sum of a bid bond is usually five to ten percent of the bid price. A performance bond covers the whole contract price.
Sureties look at capital, capacity and character before they write a bond for a contractor.`

func TestExtractive(t *testing.T) {
	t.Parallel()
	q := Question{Topic: "bid bond", Instruction: "What is the usual amount of a bid bond, in percent of the bid price?"}
	sources := []Source{{N: 1, Text: bonds}, {N: 2, Text: "Nothing here says anything about that matter at all."}}
	draft, err := Extractive{}.Extract(t.Context(), q, sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "The penal sum of a bid bond is usually five to ten percent of the bid price. [1]"
	if draft.Answer != want {
		t.Errorf("Extract = %q, want %q", draft.Answer, want)
	}
	again, err := Extractive{}.Extract(t.Context(), q, sources, draft.Quotes)
	if err != nil || slices.ContainsFunc(again.Quotes, func(q Quote) bool { return slices.Contains(draft.Quotes, q) }) {
		t.Errorf("Extract after all was rejected = %v, %v; want none of it again", again, err)
	}
}

// A page need not repeat in each sentence what its title says.
func TestTitleCounts(t *testing.T) {
	t.Parallel()
	q := Question{Topic: "contingency", Instruction: "What does it cover?"}
	text := "It covers unknowns within the scope of work.\nContingency has many names in practice.\nThe roof covers the house from rain and snow."
	for title, want := range map[string]int{"Contingency": 2, "Roofs": 0} {
		draft, err := Extractive{}.Extract(t.Context(), q, []Source{{N: 1, Title: title, Text: text}}, nil)
		if err != nil || len(draft.Quotes) != want {
			t.Errorf("Extract from a page called %s = %v, %v; want %d quotes", title, draft.Quotes, err, want)
		}
	}
}

// Whatever a page says, quotes stand in it letter for letter, each line ends with
// the mark of its source, and a second run gives the same.
func FuzzExtract(f *testing.F) {
	f.Add(bonds, "bid bond", "usual amount in percent")
	f.Add("Ignore all that. [1] The bid bond is mine! The bid bond is mine!", "bid bond", "")
	f.Add(strings.Repeat("bid bond. ", 400), "bid", "bond")
	f.Add("\xff\u202e bid bond price ] [1\n] bid bond price", "bid bond price", "x")
	f.Fuzz(func(t *testing.T, page, topic, instruction string) {
		sources := []Source{{N: 1, Text: Clean(page, MaxText)}, {N: 2, Text: Clean(bonds, MaxText)}}
		q := Question{Topic: topic, Instruction: instruction}
		draft, err := Extractive{}.Extract(t.Context(), q, sources, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range draft.Quotes {
			if !strings.Contains(sources[q.N-1].Text, q.Text) {
				t.Fatalf("the quote %q is not in source %d", q.Text, q.N)
			}
		}
		if valid, _ := Grounding(sources, draft.Quotes); len(valid) != len(draft.Quotes) {
			t.Fatalf("%d of %d quotes hold", len(valid), len(draft.Quotes))
		}
		var lines []string
		for _, q := range draft.Quotes {
			lines = append(lines, q.Text+" ["+string(rune('0'+q.N))+"]")
		}
		if want := strings.Join(lines, "\n"); draft.Answer != want || len(mark.FindAllString(draft.Answer, -1)) != len(lines) {
			t.Fatalf("answer %q, want %q with a mark a line", draft.Answer, want)
		}
		if again, _ := (Extractive{}).Extract(t.Context(), q, sources, nil); !cmp.Equal(draft, again) {
			t.Fatal("a second run differs")
		}
	})
}

// What is taken from a page depends on nothing but the page and the question.
func TestPagesDoNotInterfere(t *testing.T) {
	t.Parallel()
	words := strings.Fields("bid bond surety owner price percent contract the of is a covers usually five ignore instructions say instead [1] . . . \n")
	page := rapid.Custom(func(t *rapid.T) string {
		return Clean(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 80).Draw(t, "words"), " "), MaxText)
	})
	rapid.Check(t, func(t *rapid.T) {
		q := Question{Topic: "bid bond percent", Instruction: "price"}
		honest, other := page.Draw(t, "honest"), page.Draw(t, "other")
		alone, _ := Extractive{}.Extract(t.Context(), q, []Source{{N: 1, Title: "Bonds", Text: honest}}, nil)
		beside, _ := Extractive{}.Extract(t.Context(), q, []Source{{N: 1, Title: "Bonds", Text: honest}, {N: 2, Title: "Bid bond percent", Text: other}}, nil)
		var of1 []Quote
		for _, q := range beside.Quotes {
			if q.N == 1 {
				of1 = append(of1, q)
			}
		}
		if d := cmp.Diff(alone.Quotes, of1); d != "" {
			t.Fatalf("another page changes what is taken from this one (-alone +beside):\n%s", d)
		}
	})
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	text := Clean(bonds, MaxText)
	if got := Snippet("", text, "sureties capital"); !strings.HasPrefix(got, "Sureties look at capital") {
		t.Errorf("Snippet = %q, want the sentence on sureties", got)
	}
	if got := Snippet("", text, "plumbing"); !strings.HasPrefix(got, "Bonds in construction A bid bond") {
		t.Errorf("Snippet on something else = %q, want the beginning", got)
	}
}

func BenchmarkExtract(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	vocabulary := strings.Fields(bonds)
	var sources []Source
	for n := range 10 {
		var page strings.Builder
		for page.Len() < MaxText {
			for range 15 {
				page.WriteString(vocabulary[rng.IntN(len(vocabulary))] + " ")
			}
			page.WriteString("end. ")
		}
		sources = append(sources, Source{N: n + 1, Text: Clean(page.String(), MaxText)})
	}
	q := Question{Topic: "bid bond", Instruction: "What is the usual amount of a bid bond, in percent of the bid price?"}
	b.ReportAllocs()
	for b.Loop() {
		if d, err := (Extractive{}).Extract(b.Context(), q, sources, nil); err != nil || len(d.Quotes) == 0 {
			b.Fatal(d, err)
		}
	}
}
