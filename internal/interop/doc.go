// Package interop holds the tests that other people's clients run against what
// is served here: the official Go client and the official JavaScript client, in
// A2A 1.0 and 0.3, over JSON-RPC and HTTP+JSON. Each reads the card, sends,
// streams, gets, lists, cancels, attaches again, is told by webhook, and asks for
// what does not exist.
//
// They talk to the conformance agent, whose tasks last as long as a test wants,
// and to the agents of the local system. The JavaScript client is under js, with
// its own package-lock.json; without node its tests say that they were skipped.
package interop
