// Package pricing turns a scope, a place and the wishes of the user into a
// price: a local, escalated cost for every line, and the markups, taxes and fees
// that lead from the lines to the total.
//
//	line     M = qty·(1+waste)·unit·I_mat·f_mat·e   T = M·tax   (tax on materials only)
//	         H = qty·hours·f_lab·productivity       L = H·rate·e   E = qty·equipment·e
//	         S = (M+T)·s_mat + L·s_lab + E·0.10     when a subcontractor does it
//	         D = M + T + L + E + S
//	job      GC = g·ΣD   OH = o·(ΣD+design+GC)   PR = p·(ΣD+design+GC+OH)
//	         contract = ΣD + design + GC + OH + PR
//	total    contract + tax on the contract + permits
//
// Waste multiplies material alone; labor is local through its rate and material
// through its index, once (domain rule R11); markups are on cost, in this order.
// A subcontractor's overhead and profit are shown inside the material, labor and
// equipment of his line, sales tax apart, so that the parts of the cost add up
// to its total (R6).
//
// Everything is computed in full precision; an amount is rounded to cents where
// it is shown, and a sum of shown amounts is the sum of those cents. A total may
// therefore differ from the unrounded one by half a cent for each of its parts.
//
// Low of a Range is the deterministic figure. Medium and High are the P80 and
// the P90 of the lines combined with a mean correlation; percentiles are never
// added up.
package pricing
