package takeoff

// leastSpelled is how long a word must be to be taken for a misspelled one:
// among shorter words one letter makes another word.
const leastSpelled = 5

// spelled is what a word counts that had to be corrected.
const spelled = 0.9

// nearest returns the word of the vocabulary that w is a misspelling of: the
// same first letter, one slip apart, or two in a long word. Where two words are
// equally near, neither is meant.
func (l *lexicon) nearest(w string) (id int, ok bool) {
	if len(w) < leastSpelled || !letters(w) {
		return 0, false
	}
	limit := 1
	if len(w) > 8 {
		limit = 2
	}
	best := limit + 1
	for other, n := range l.ids {
		if other[0] != w[0] || len(other) < leastSpelled-1 || abs(len(other)-len(w)) > limit || !letters(other) {
			continue
		}
		switch d := slips(w, other); {
		case d < best:
			best, id, ok = d, n, true
		case d == best:
			ok = false
		}
	}
	return id, ok && best <= limit
}

// slips counts the letters to leave out, put in, change or swap with the next
// to make b of a (the optimal string alignment).
func slips(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func letters(w string) bool {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return true
}

func abs(n int) int { return max(n, -n) }
