package stat

import "math"

// betaCDF returns the regularised incomplete beta function I_x(alpha, beta).
// logBeta is ln B(alpha, beta), passed in because a quantile asks many times.
func betaCDF(alpha, beta, logBeta, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	}
	front := math.Exp(alpha*math.Log(x) + beta*math.Log1p(-x) - logBeta)
	// The fraction converges fast only on this side of the mean.
	if x < (alpha+1)/(alpha+beta+2) {
		return front * betaFraction(alpha, beta, x) / alpha
	}
	return 1 - front*betaFraction(beta, alpha, 1-x)/beta
}

// betaFraction is the continued fraction of the incomplete beta function by the
// modified method of Lentz.
func betaFraction(a, b, x float64) float64 {
	const tiny, enough = 1e-300, 1e-15
	away := func(v float64) float64 { // from zero
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c := 1.0
	d := 1 / away(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m <= 200; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / away(1+even*d)
		c = away(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / away(1+odd*d)
		c = away(1 + odd/c)
		step := d * c
		h *= step
		if math.Abs(step-1) < enough {
			break
		}
	}
	return h
}

func logBeta(alpha, beta float64) float64 {
	a, _ := math.Lgamma(alpha)
	b, _ := math.Lgamma(beta)
	ab, _ := math.Lgamma(alpha + beta)
	return a + b - ab
}

// betaQuantile inverts betaCDF by Newton's method inside a shrinking bracket.
func betaQuantile(alpha, beta, u float64) float64 {
	switch {
	case u <= 0:
		return 0
	case u >= 1:
		return 1
	}
	norm := logBeta(alpha, beta)
	low, high := 0.0, 1.0
	x := alpha / (alpha + beta)
	for range 100 {
		f := betaCDF(alpha, beta, norm, x) - u
		if f > 0 {
			high = x
		} else {
			low = x
		}
		density := math.Exp((alpha-1)*math.Log(x) + (beta-1)*math.Log1p(-x) - norm)
		next := x - f/density
		if !(next > low && next < high) { // also when the density vanished
			next = (low + high) / 2
		}
		if math.Abs(next-x) < 1e-14 {
			return next
		}
		x = next
	}
	return x
}
