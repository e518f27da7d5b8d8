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
		provided supplied supply cost fee any work other than beyond`) {
		m[w] = true
	}
	return m
}()

// excluded returns the exclusion of the brief that names the line, or "". It
// names it when every word it says is in the line; so "painting of ceilings"
// takes out the ceilings and leaves the walls. An exception ("other than the
// hood") is not understood by words, so such an exclusion names no line.
func (t *taker) excluded(in *estimate.ScopeItem) string {
	line := tokens(in.Item)
	for _, e := range t.in.Brief.Exclusions {
		lower := strings.ToLower(e)
		if strings.Contains(lower, "other than") || strings.Contains(lower, "except") || installation(lower) {
			continue
		}
		if before, _, found := strings.Cut(lower, "("); found && strings.TrimSpace(before) != "" {
			lower = before
		}
		if names(tokens(lower), line) {
			return e
		}
	}
	return ""
}

// names reports whether the meaningful words of an exclusion are all in a line.
func names(exclusion, line []string) bool {
	some := false
	for _, w := range exclusion {
		if exclusionWords[w] {
			continue
		}
		meant := slices.Contains(line, w) || w == "applianc" && isAppliance(line)
		if !meant {
			return false
		}
		some = true
	}
	return some
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
	line := tokens(l.Item)
	for _, e := range t.in.Brief.Exclusions {
		if lower := strings.ToLower(e); installation(lower) && names(tokens(lower), line) {
			return true
		}
	}
	return false
}
