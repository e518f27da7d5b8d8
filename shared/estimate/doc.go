// Package estimate is the vocabulary of TrueCost: the clarified scope that comes
// in, the output of each of the six agents, and the identities that tie them
// together (R5–R8 of the domain rules).
//
// It is pure data and arithmetic. The packages below it compute the parts and
// talk to each other only through these types; they may import money and
// catalog, never one another:
//
//	intake     bytes of a ClarificationOutput → Clarification, or every fault in them
//	locality   address → Location
//	takeoff    csiScope → Scope (items matched, units converted, quantities checked)
//	pricing    Scope + Location → Cost
//	montecarlo distributions, correlated sampling, percentiles
//	schedule   activities, calendar, critical path
//	synthesis  all outputs → Final, and the fields dashboards read
//
// Wire names follow the published documents: camelCase in agent outputs.
package estimate
