// Package formula evaluates the arithmetic of the catalogue: quantities over the
// drivers of a project type, as 4.12*sqrt(A) or max(6,ceil(A/32)).
package formula
