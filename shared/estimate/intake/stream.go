package intake

import (
	"crypto/sha256"
	"slices"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// Stream returns the seed of the random numbers that are drawn for one purpose:
// it depends on the job and the edition of the catalogue, not on ids or time. A
// nil clarification is an empty job.
func Stream(c *estimate.Clarification, purpose string) [32]byte {
	if c == nil {
		c = new(estimate.Clarification)
	}
	job := Seed(*c)
	return sha256.Sum256(slices.Concat(job[:], []byte(purpose+" "+catalog.Version)))
}
