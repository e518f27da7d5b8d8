package stat

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// NewRand returns the random numbers of one stream of a seed. Streams of one
// seed are independent of each other, so work can be cut into pieces that give
// the same numbers in any order.
func NewRand(seed [32]byte, stream uint64) *rand.Rand {
	return rand.New(newSource(seed, stream)) //nolint:gosec // G404: a simulation must repeat
}

func newSource(seed [32]byte, stream uint64) *rand.PCG {
	h := sha256.Sum256(binary.BigEndian.AppendUint64(seed[:], stream))
	return rand.NewPCG(binary.BigEndian.Uint64(h[:8]), binary.BigEndian.Uint64(h[8:16]))
}
