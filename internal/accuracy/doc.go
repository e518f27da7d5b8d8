// Package accuracy measures the numbers of the whole deterministic pipeline:
// every project type at its default drivers against its national check price,
// and every type at every finish and three sizes for what must hold of any
// estimate. `make accuracy` prints the first as a table.
package accuracy
