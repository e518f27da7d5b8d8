// Package e2e proves the system from the outside: a local system of its own
// for each test, called over HTTP and watched through Firestore as a frontend
// does. It has no code but its tests.
//
// Nothing here waits for a time to pass. Tests wait for a document to say
// something, with a deadline that only a defect reaches.
package e2e
