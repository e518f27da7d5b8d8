// Package field reads field paths ("a.b", "a.`odd name`") and gets, sets and
// masks the fields of a document by them.
package field
