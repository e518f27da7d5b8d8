// Package agent turns typed, pure functions into the agents of a family: a
// primary that works, a scorer that judges and a critic that explains.
//
//	Primary(in, feedback) ─▶ Out ─▶ Rubric(in, out) ─▶ Score ── ≥ 80 ─▶ passed
//	      ▲                                    └─ findings ─▶ Critique ─┐
//	      └────────────────────── feedback ─────────────────────────────┘
//
// A rubric is a list of criteria with weights that sum to 100. Scorer and critic
// run the same rubric, so they cannot disagree; the critic only puts its
// findings into words. A new family is one value of Family; everything else
// (three agents, their cards, their decoding and their errors) follows from it.
package agent
