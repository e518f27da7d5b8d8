// Package estimates holds the callables round an estimate: start it, ask how it
// is, cancel it, delete it. Each answers {success: true, data: {…}} or an error
// of the callable protocol whose details carry the published code.
//
// An estimate belongs to the user who started it. To anybody else it does not
// exist.
package estimates
