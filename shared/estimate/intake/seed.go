package intake

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"truecost.dev/shared/estimate"
)

// Seed returns the SHA-256 of what is to be built. Left out is all that names
// the job without changing it: the ids of estimate, project and lines, the
// timestamp, the project's name, the address of the drawing's file, the
// conversation, and the paths of flags (they count lines). The order of lines
// within a division, and of rooms, requirements and other lists, does not
// matter either.
//
// Mix the version of the catalogue into what is drawn from it: equal seeds say
// equal jobs, not equal prices.
func Seed(c estimate.Clarification) [32]byte {
	c.EstimateID, c.ProjectID, c.Timestamp = "", "", time.Time{}
	c.Brief.ProjectName = ""
	c.CAD.FileURL = ""
	c.Conversation = estimate.Conversation{}

	c.Brief.Summary.Rooms = unordered(c.Brief.Summary.Rooms)
	c.Brief.SpecialRequirements = unordered(c.Brief.SpecialRequirements)
	c.Brief.Exclusions = unordered(c.Brief.Exclusions)
	c.Flags.MissingData = unordered(c.Flags.MissingData)
	c.Flags.VerificationItems = unordered(c.Flags.VerificationItems)
	c.CAD.Space.Rooms = unordered(c.CAD.Space.Rooms)
	c.CAD.Space.Walls = unordered(c.CAD.Space.Walls)
	c.CAD.Space.Openings = unordered(c.CAD.Space.Openings)
	c.CAD.Relations.Adjacencies = unordered(c.CAD.Relations.Adjacencies)
	c.CAD.Relations.Entries = unordered(c.CAD.Relations.Entries)

	flags := slices.Clone(c.Flags.LowConfidence)
	for i := range flags {
		flags[i].Field = ""
	}
	c.Flags.LowConfidence = unordered(flags)

	scope := make(map[string]estimate.ScopeDivision, len(c.Scope))
	for key, division := range c.Scope {
		items := slices.Clone(division.Items)
		for i := range items {
			items[i].ID = ""
		}
		division.Items = unordered(items)
		scope[key] = division
	}
	c.Scope = scope
	return sha256.Sum256(encode(c))
}

// unordered returns the elements sorted by their JSON.
func unordered[T any](list []T) []T {
	type pair struct {
		key   string
		value T
	}
	pairs := make([]pair, len(list))
	for i, v := range list {
		pairs[i] = pair{string(encode(v)), v}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		switch {
		case a.key < b.key:
			return -1
		case a.key > b.key:
			return 1
		}
		return 0
	})
	sorted := make([]T, len(list))
	for i, p := range pairs {
		sorted[i] = p.value
	}
	return sorted
}

// encode writes JSON with the keys of maps sorted. A Clarification that Parse
// made always encodes; one with NaN in it is a defect of the program.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("intake: encode %T: %v", v, err))
	}
	return b
}
