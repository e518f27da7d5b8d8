// Package chart draws: data in, SVG bytes out. It is pure, and the same data
// gives the same bytes. Drawings have a title and a description, follow the
// reader's light or dark scheme, load nothing and run nothing.
//
// It is not for a terminal, and knows no estimate: what is drawn is described by
// the types it is given.
package chart
