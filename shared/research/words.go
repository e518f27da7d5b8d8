package research

import (
	"strings"
	"unicode"
)

// empty are the words that say nothing about a sentence, and those with which
// people ask.
var empty = setOf(`a about above after all also am an and any are as at be because been before being below between both but by can could
	describe did do does each every explain extract few find for from further gave get give given had has have he her here hers him his how i
	if in into is it its just list me might more most must my name no nor not of off on one only or other our out over own page please provide
	report return same say says she should show so some state such summarise summarize tell than that the their them then there these they this
	those through to too under until up us use used very was we were what when where which while who whom why will with would you your`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// terms returns the words of a text that say something, in their order, as
// stems: bonds and bond are one term, and so are estimated and estimates.
func terms(s string) []string {
	var found []string
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' }) {
		w, _, _ = strings.Cut(strings.ReplaceAll(w, "’", "'"), "'") // owner's is owner
		if w != "" && !empty[w] {
			found = append(found, stem(w))
		}
	}
	return found
}

// endings are cut off a word, the first that fits, if three letters or more are
// left. It is coarser than Porter's and needs no tables; a word that it cuts too
// short is cut the same way in question and page.
var endings = []string{"ations", "ation", "ments", "ment", "ings", "ing", "ers", "ies", "ied", "er", "es", "ed", "y", "s", "e"}

func stem(w string) string {
	for _, end := range endings {
		if cut, ok := strings.CutSuffix(w, end); ok && len(cut) >= 3 && (end != "s" || !strings.HasSuffix(cut, "s")) {
			return cut
		}
	}
	return w
}
