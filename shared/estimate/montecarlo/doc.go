// Package montecarlo simulates the total price of a job and derives its
// contingency.
//
//	lines:  quantity × (material × price + labor × hours + equipment)
//	              ▲ correlated by a Gaussian copula: market, trade, material
//	events: probability × impact on the sampled lines, correlated in groups
//	              ▼
//	total = fixed + scale × (Σ lines + Σ events)  ──▶  P10 P50 P80 P90, shares
//
// Model and Run are the engine and know nothing of documents; Register decides
// which risks a job can meet and that none is counted twice; Simulate joins
// both into the output of the risk agent.
//
// Invariants: with every factor 1 and no event the price is Cost.Total.Low to
// the cent; the shares of variance sum to 1; a seed gives the same numbers
// whatever the order of the lines or the number of processors.
//
// Correlations are normal correlations of the copula (0.30 between two lines,
// 0.60 in a trade, 0.80 for one material, 0.20 across kinds, 0.50 in a group of
// events). They come from shared factors, so the matrix of thousands of scores
// is positive definite by construction; only the small one between the kinds of
// factor can contradict itself, and is repaired.
package montecarlo
