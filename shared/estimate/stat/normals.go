package stat

import "math/rand/v2"

// Normals draws standard normal values in bulk, by the inverse of their
// distribution: a draw of 32 bits picks a cell of equal probability, between
// whose ends the value is linear. In the outermost cells, where the curve bends,
// it is computed. It costs a third of the usual rejection method, and a value is
// a function of its bits alone.
type Normals struct{ source *rand.PCG }

// The cells of Normals: 1024 of them, of which the first and last four are
// computed.
const (
	cellBits = 10
	cells    = 1 << cellBits
	restBits = 32 - cellBits
	outer    = 4
)

// corners are the quantiles at the lower ends of the cells, and what a step of
// the rest of the bits adds; those of the outer cells are never used.
var corners = func() (at [cells]struct{ low, slope float64 }) {
	for i := outer; i < cells-outer; i++ {
		low, high := NormalQuantile(float64(i)/cells), NormalQuantile(float64(i+1)/cells)
		at[i].slope = (high - low) / (1 << restBits)
		at[i].low = low + at[i].slope/2
	}
	return at
}()

// NewNormals returns the values of one stream of a seed; see NewRand.
func NewNormals(seed [32]byte, stream uint64) Normals { return Normals{newSource(seed, stream)} }

// Fill writes independent values to z.
func (n Normals) Fill(z []float64) {
	for len(z) >= 2 {
		bits := n.source.Uint64()
		one, two := uint32(bits), uint32(bits>>32)
		z[0], z[1] = inner(one), inner(two)
		if isOuter(one) {
			z[0] = exact(one)
		}
		if isOuter(two) {
			z[1] = exact(two)
		}
		z = z[2:]
	}
	if len(z) == 1 {
		one := uint32(n.source.Uint64() >> 32)
		if z[0] = inner(one); isOuter(one) {
			z[0] = exact(one)
		}
	}
}

// isOuter reports whether a draw falls into an outer cell; below the first inner
// one the difference wraps.
func isOuter(bits uint32) bool { return bits>>restBits-outer >= cells-2*outer }

// inner is linear between the ends of the cell.
func inner(bits uint32) float64 {
	c := &corners[bits>>restBits]
	return c.low + float64(bits&(1<<restBits-1))*c.slope
}

func exact(bits uint32) float64 { return NormalQuantile((float64(bits) + 0.5) / (1 << 32)) }
