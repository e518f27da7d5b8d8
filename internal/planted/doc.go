// Package planted holds the scorers to account: testdata lists errors as they
// happen, one block each, and the tests plant every one of them in the output of
// a real job and look whether the scorer of the agent fails it and names where.
//
//	one unit price ten times too high           the error, in words
//		multiply {line}.unitMaterialCost.low 10   what is done to the output
//		resum                                     and made consistent again
//		want {line}.unitMaterialCost              where a finding must point
//
// Everything goes through the agents as they are served, in JSON: the table
// knows no Go type. Paths are those of findings, and may select an element of a
// list by a member ([id=SCH-06], [name~tile]) or mean all of them ([*]).
package planted
