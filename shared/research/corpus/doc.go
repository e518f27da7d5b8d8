// Package corpus is a search over documents at hand: a folder of text, Markdown
// and HTML files, or the sixteen documents on estimating that are embedded. It
// needs neither network nor key.
//
//	folder ─▶ documents ─▶ parts of at most research.MaxText characters ─▶ full-text index, BM25 ─▶ hits with their text
//
// Documents are read and indexed at the first search and kept in memory. What
// changes in the folder afterwards is not seen.
package corpus
