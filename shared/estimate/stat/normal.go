package stat

import "math"

// NormalCDF returns the share of a standard normal below z.
func NormalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// NormalQuantile returns the standard normal value below which the share u
// lies; infinities at 0 and 1.
func NormalQuantile(u float64) float64 {
	u = unit(u)
	if u < 0.5 {
		return -NormalQuantile(1 - u)
	}
	return math.Sqrt2 * math.Erfinv(2*u-1)
}

// CopulaRho returns the correlation of the normals that gives the Spearman
// correlation spearman of the values.
func CopulaRho(spearman float64) float64 { return 2 * math.Sin(math.Pi*spearman/6) }
