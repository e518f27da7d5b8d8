package stat

import "math"

// Cholesky returns the lower triangle L with L·Lᵀ = R for a symmetric matrix
// with a diagonal of ones. A matrix that is not positive definite is repaired by
// shrinking its off-diagonals toward zero; shrink is the factor used, 1 when
// none was needed. Only the lower triangle of r is read.
func Cholesky(r [][]float64) (lower [][]float64, shrink float64) {
	shrink = 1
	for {
		if l, ok := cholesky(r, shrink); ok {
			return l, shrink
		}
		shrink *= 0.99
	}
}

// cholesky factors r with its off-diagonals times shrink. At shrink 0 it is the
// identity, so repair ends.
func cholesky(r [][]float64, shrink float64) ([][]float64, bool) {
	if shrink < 0.01 {
		shrink = 0
	}
	l := make([][]float64, len(r))
	for i := range r {
		l[i] = make([]float64, len(r))
		for j := range i {
			sum := shrink * r[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			l[i][j] = sum / l[j][j]
		}
		rest := 1.0
		for k := range i {
			rest -= l[i][k] * l[i][k]
		}
		if !(rest > 1e-10) {
			return nil, false
		}
		l[i][i] = math.Sqrt(rest)
	}
	return l, true
}
