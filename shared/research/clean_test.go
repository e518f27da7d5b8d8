package research

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in    string
		limit int
		want  string
	}{
		{"", 10, ""},
		{"  a\t b \u00a0 c  ", 10, "a b c"},
		{"a \n\n \r\n b", 10, "a\nb"},
		{"a\u2028b\u2029c", 10, "a\nb\nc"},
		{"a\u200bb\u202ec\ufeffd\u00ade", 10, "abcde"},                             // zero width, direction, mark, soft hyphen
		{"a\U000e0041\U000e0042b", 10, "ab"},                                       // letters of the tag block
		{"a\ufe0fb\U000e0100c", 10, "abc"},                                         // selectors of variants
		{"a\x00\x1b[31mb", 10, "a[31mb"},                                           // controls
		{"a\xffb\xc3", 10, "ab"},                                                   // not UTF-8
		{"Bonds [1] cost [23] money.[4]", 40, "Bonds cost money."},                 // notes of the page
		{"the penal sum [2], and [3] more [4] .", 40, "the penal sum, and more ."}, // and what follows them
		{"a [[1]2] b [ 3 ] c [4\n] d", 40, "a b c d"},                              // marks that appear when others go
		{"a[\u200b1\u200b]b", 40, "ab"},                                            // marks that appear when others go
		{"a [٣] b", 40, "a b"},                                                     // digits of other scripts
		{"[a1] [1a] [] ]1[ [1", 40, "[a1] [1a] [] ]1[ [1"},                         // no marks
		{"line one [1]\nline two", 40, "line one\nline two"},                       // the line ends where it did
		{"abcdef", 3, "abc"},
		{"äöü", 2, "äö"},
		{"ab cd", 3, "ab"},
		{"ab cd", 0, ""},
	}
	for _, tt := range tests {
		if got := Clean(tt.in, tt.limit); got != tt.want {
			t.Errorf("Clean(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	if got, want := Line("a\n b [1]\tc", 20), "a b c"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

var mark = regexp.MustCompile(`\[ ?\d+ ?\]`)

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a [1] b", "[[1]1]", "a\u202e\nb", "\xff[\xff1]", strings.Repeat("[1", 50) + strings.Repeat("]", 50)} {
		f.Add(s, 100)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = min(max(limit, 0), 1000)
		got := Clean(s, limit)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > limit {
			t.Fatalf("Clean(%q, %d) = %q", s, limit, got)
		}
		if mark.MatchString(got) || strings.Contains(got, "  ") || strings.Contains(got, "\n\n") || strings.TrimSpace(got) != got {
			t.Fatalf("Clean(%q) = %q: a mark, or more white space than one", s, got)
		}
		for _, r := range got {
			if r != '\n' && (unicode.IsControl(r) || invisible(r)) {
				t.Fatalf("Clean(%q) = %q: %U does not show", s, got, r)
			}
		}
		if again := Clean(got, limit); again != got {
			t.Fatalf("Clean(%q) = %q, and again %q", s, got, again)
		}
	})
}
