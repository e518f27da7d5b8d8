// Package final is the family of agents that concludes an estimate: a primary
// that joins the outputs into one total, and a rubric by which scorer and critic
// judge the conclusion.
//
// The rubric holds the conclusion against the outputs it joins and its words
// against its figures: what a reader is told must be what was computed.
package final
