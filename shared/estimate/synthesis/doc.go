// Package synthesis joins the outputs of the agents into the final estimate: one
// total, the breakdown that leads to it, and in plain sentences what it means
// and what it rests on.
//
//	base        Cost.Total.Low, everything but contingency
//	contingency P80 − base of the simulation, or the user's fixed percent of base
//	total       base + contingency, the one total of the estimate (R5)
//
// Every sentence is made from the figures of the outputs; nothing is computed
// twice and nothing is invented. What is missing is said to be missing: without
// a risk analysis there is no simulated contingency, without a schedule no dates.
package synthesis
