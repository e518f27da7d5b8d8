// Package locality says what the place of the work means for its price: indexes
// of labor and material, burdened rates of every trade, sales tax, permits and
// weather.
//
// The place is found down a ladder, and the rung is stated:
//
//	zip       the three-digit prefix has its own index
//	metro     the prefix is unknown, but the city is the centre of a metro area
//	state     only the state is known
//	national  nothing is known: every index is 1.00
//
// Any five digits give a Location: a lower rung means a lower confidence and
// needsReview, never an error. When ZIP and state contradict each other, the ZIP
// wins, because it is what the city, the index and the mail agree on; unless the
// city belongs to the stated state, which makes it two against one.
//
// Local adjustment happens once (domain rule R11): labor through the rates here,
// material through MaterialIndex. LocationFactor is their composite, 60 to 40,
// for display and for lump sums. Union wages are inside the index already, so
// union conditions are information, never a premium on top.
package locality
