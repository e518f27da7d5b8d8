// Package value is Firestore's value model over the wire type: the total order
// between values of all types, equality, storage size and the limits a stored
// value must keep.
//
// Values are never changed in place: whoever changes one builds a new one, so
// that documents can be shared between versions and readers without locks.
package value
