// Package a2a is the front and the client of agents: what travels between them,
// how it is read and written, and which error is which.
package a2a
