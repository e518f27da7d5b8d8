// Package coverage asks whether the published ranges hold what they promise:
// estimates of synthetic jobs whose true cost is known, because a world made it.
//
//	job ──▶ estimate (P10 … P90 as published)
//	 └────▶ world: what really happened to each line, which risks struck
//	                         ▼
//	        share of the truths between P10 and P90, below P50, below P80
//
// The world reads what is published, lines with their ranges and risks with
// their probabilities, and nothing of the simulation: it has shapes of its own
// (two halves of a normal, triangles), correlations that differ from job to job
// round those assumed, and draws them its own way. So the figures show whether
// the model is right about the total, not only about itself.
package coverage
