// Package mutants proves that the tests can fail. A mutant is a small change that
// makes the engine, the runner or the store wrong in a way that somebody might
// well program; the table says which tests must notice it. The test applies each
// change to one file, without touching it (go test -overlay), runs those tests and
// expects red:
//
//	table ──▶ old text occurs once ──▶ overlay ──▶ go test -run ──▶ an assertion fails
//
// A mutant that does not compile, that only panics or hangs, or whose text no longer
// occurs in its file, is an error of the table and fails as loudly as one that
// survives. A survivor asks for a test, in the package where it belongs.
//
//	go test ./internal/mutants                        all of them
//	go test ./internal/mutants -run 'Mutants/no_claim$' -v   one, with what its tests said
package mutants
