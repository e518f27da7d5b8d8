package stat

import "math"

// Percentile returns the value of a sorted sample at the share p, 0–1, by
// linear interpolation between order statistics. An empty sample gives 0.
func Percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	x := unit(p) * float64(len(sorted)-1)
	i := int(x)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (x-float64(i))*(sorted[i+1]-sorted[i])
}

// Moments returns the mean and the sample standard deviation.
func Moments(xs []float64) (mean, sd float64) {
	if len(xs) == 0 {
		return 0, 0
	}
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	if len(xs) == 1 {
		return mean, 0
	}
	for _, x := range xs {
		sd += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sd / float64(len(xs)-1))
}

// Ranks returns the rank of each value, 1 for the smallest; equal values share
// the mean of their ranks.
func Ranks(xs []float64) []float64 {
	ranks, _ := RankSort(xs)
	return ranks
}

// RankSort returns the ranks of a sample and the sample sorted, which it leaves
// as it is.
func RankSort(xs []float64) (ranks, sorted []float64) {
	keys := make([]keyed, len(xs))
	for i, x := range xs {
		keys[i] = keyed{sortable(x), int32(i)}
	}
	keys = radix(keys, make([]keyed, len(xs)))
	ranks, sorted = make([]float64, len(xs)), make([]float64, len(xs))
	for i := 0; i < len(keys); {
		j := i + 1
		for j < len(keys) && keys[j].key == keys[i].key {
			j++
		}
		value := keys[i].value()
		for k, e := range keys[i:j] {
			ranks[e.at], sorted[i+k] = float64(i+j+1)/2, value
		}
		i = j
	}
	return ranks, sorted
}

// Pearson returns the correlation of two samples of one length; 0 when one of
// them does not vary.
func Pearson(xs, ys []float64) float64 {
	mx, _ := Moments(xs)
	my, _ := Moments(ys)
	var xx, yy, xy float64
	for i, x := range xs {
		dx, dy := x-mx, ys[i]-my
		xx += dx * dx
		yy += dy * dy
		xy += dx * dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// Spearman returns the rank correlation of two samples of one length.
func Spearman(xs, ys []float64) float64 { return Pearson(Ranks(xs), Ranks(ys)) }
