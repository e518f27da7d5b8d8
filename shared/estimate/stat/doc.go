// Package stat holds the statistics of the estimate: judged and priced
// distributions, the normal copula that ties them together, percentiles and
// ranks, and random numbers that are the same for the same seed.
//
// It knows nothing of cost or time. Everything in it is a pure function;
// randomness comes in as a *rand.Rand made by NewRand from a recorded seed.
//
// Sources: PERT and triangular as in estimating practice (shape 4), the
// regularised incomplete beta function by the continued fraction of Lentz, the
// percentile of a sample by linear interpolation between order statistics.
package stat
