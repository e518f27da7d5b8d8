// Package cost is the family of agents that prices a scope: a primary that calls
// pricing, and a rubric by which scorer and critic judge a price.
//
// The rubric does not ask pricing what is right. It recomputes lines from their
// own quantities and rates, compares those with the catalogue, the place and the
// scope, rebuilds the markups from the profile of the job, and compares the
// whole with the usual price of a job of this kind and size.
package cost
