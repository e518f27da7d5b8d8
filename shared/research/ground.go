package research

import "strings"

// PassMark is the score from which a draft counts as grounded.
const PassMark = 80

// Grounding parts the quotes that stand in the source they name from those that
// do not. Letters, digits and marks must agree one by one; a run of white space
// equals any other.
func Grounding(sources []Source, quotes []Quote) (valid, rejected []Quote) {
	folded := make([]string, len(sources))
	for i, s := range sources {
		folded[i] = fold(s.Text)
	}
	for _, q := range quotes {
		text := fold(q.Text)
		if q.N >= 1 && q.N <= len(sources) && text != "" && strings.Contains(folded[q.N-1], text) {
			valid = append(valid, q)
		} else {
			rejected = append(rejected, q)
		}
	}
	return valid, rejected
}

// Score is how much of a draft holds, 0 to 100, rounded down; 0 when it claims
// nothing.
func Score(valid, claimed int) int {
	if claimed == 0 {
		return 0
	}
	return 100 * valid / claimed
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
