package takeoff

import (
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
)

// exclusionWords say how something is left out, not what; stemmed as tokens are.
var exclusionWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range tokens(`owner others exclude excluded excluding separate separately contract later phase client customer homeowner
		provided supplied supply cost fee any work other than beyond hook-up hookup`) {
		m[w] = true
	}
	return m
}()

// excluded returns the exclusion of the brief that names the line, or "". An
// exception ("other than the hood") is not understood by words, so such an
// exclusion names no line.
func (t *taker) excluded(in *estimate.ScopeItem) string {
	for _, e := range t.in.Brief.Exclusions {
		lower := strings.ToLower(e)
		if strings.Contains(lower, "other than") || strings.Contains(lower, "except") || installation(lower) {
			continue
		}
		if before, _, found := strings.Cut(lower, "("); found && strings.TrimSpace(before) != "" {
			lower = before
		}
		if names(lower, in.Item) {
			return e
		}
	}
	return ""
}

// names reports whether an exclusion names a line: all of its words are in the
// line, and those before any aside are what the line is about. So "painting of
// ceilings" takes out the ceilings and leaves the walls, and "windows" leaves
// the sealant at the window.
func names(exclusion, line string) bool {
	about, all := mainWords(line), tokens(line)
	some := false
	for i, part := range split(exclusion) {
		for _, w := range tokens(part.text) {
			if exclusionWords[w] {
				continue
			}
			in := all
			if i == 0 {
				in = about
			}
			meant := slices.Contains(in, w) || w == "applianc" && isAppliance(all)
			if !meant {
				return false
			}
			some = true
		}
	}
	return some
}

// mainWords are the words of a line before any aside but a comma.
func mainWords(line string) []string {
	var main []string
	for _, part := range split(line) {
		if part.weight >= asideWeight[", "] {
			main = append(main, tokens(part.text)...)
		}
	}
	return main
}

// isAppliance reports whether the words of a line name a kitchen appliance
// itself, not its circuit or its water line.
func isAppliance(line []string) bool {
	about := func(ws ...string) bool {
		return slices.ContainsFunc(ws, func(w string) bool { return slices.Contains(line, canonical(w)) })
	}
	return about("refrigerator", "range", "dishwasher", "microwave", "cooktop", "oven", "rangehood", "washer", "dryer") &&
		!about("circuit", "duct", "ductrun", "line", "outlet", "roughin", "gasline", "relocate", "supply", "remove", "receptacle", "blocking")
}

// installation reports whether an exclusion leaves out only the labor.
func installation(lower string) bool {
	return strings.Contains(lower, "install") || strings.Contains(lower, "hook-up") || strings.Contains(lower, "hookup")
}

// laborExcluded reports whether the brief leaves out the installation of what
// the line supplies: its material stays (domain rule R8).
func (t *taker) laborExcluded(l *estimate.ScopeLine) bool {
	for _, e := range t.in.Brief.Exclusions {
		if lower := strings.ToLower(e); installation(lower) && names(lower, l.Item) {
			return true
		}
	}
	return false
}
