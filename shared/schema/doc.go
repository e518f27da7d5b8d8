// Package schema checks JSON documents against JSON Schemas: what an agent
// answered against the node's schema, what a person answered against the
// question's. It says what is wrong in the words of the document, one line per
// problem, so that whoever wrote the document can put it right.
//
// A schema is closed: it refers to itself and to the published drafts alone, and
// nothing is ever loaded from a network or a disk. The work of one check is
// bounded, whatever schema and document say.
//
// It is not for the input of estimates, which has its own rules (estimate/intake).
package schema
