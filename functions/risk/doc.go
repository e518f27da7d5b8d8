// Package risk is the risk agent with its scorer and critic: the distribution of
// the total price, the contingency that follows from it, and the register of
// what may happen.
//
// The primary simulates (see shared/estimate/montecarlo). The rubric does not
// believe it: it checks every identity of the output against itself, and where
// the cost is at hand it simulates again and compares.
package risk
