// Command conformance serves one agent that does what public conformance kits
// ask of it, behind the front, the tasks, the cards and the store of the agents
// of the pipeline. It is for tests alone: it takes any caller for the same one,
// calls webhooks on this machine, and is never deployed.
//
//	go run ./internal/conformance -addr 127.0.0.1:9990
//
// The card is that of A2A 1.0 and nothing else, since kits hold it against the
// 1.0 schema; -union serves the card of all versions, as the pipeline's agents
// do. All dialects are answered either way.
package main
