package pricing

import (
	"regexp"
	"slices"

	"truecost.dev/shared/estimate"
)

// What an exclusion of the brief may name that is not a line of its own (R8).
var (
	permitWords    = regexp.MustCompile(`(?i)\bpermit`)
	designWords    = regexp.MustCompile(`(?i)\b(architect|design|engineering) ?(fee|service|work|drawing)|\barchitectural\b|\bdesign by\b`)
	applianceWords = regexp.MustCompile(`(?i)\bappliances?\b.*\b(install|hook)|\b(install|hook)\w*\b.*\bappliance`)
)

// excludes reports whether the brief or the scope leaves out what the words
// name, or an item that is not priced is called so.
func excludes(ctx estimate.Context, words *regexp.Regexp) bool {
	left := slices.Clone(ctx.Scope.Exclusions)
	if ctx.Clarification != nil {
		left = append(left, ctx.Clarification.Brief.Exclusions...)
	}
	for _, section := range ctx.Scope.Divisions {
		left = append(left, section.OwnerItems...)
	}
	return slices.ContainsFunc(left, words.MatchString)
}
