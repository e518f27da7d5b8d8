// Package hub is the local system: one process that serves what the cloud
// serves, on the loopback interface alone.
//
//	hosting :5000 ──/a2a/<agent>──┐
//	                              ▼
//	callers ─────────────▶ functions :5001 ──gRPC──▶ firestore :8080
//	                              ▲  │
//	                  push (HTTP) │  │ publish (gRPC)
//	                              │  ▼
//	schedules ──publish──▶   pubsub :8085
//
//	inspector :4000   /healthz, and a page that lists what there is
//
// The hub knows no function by name: it is given a table of host.Function. It
// mounts each at /{project}/{region}/{name} and at /{name}, creates the topic
// and the push subscription of each that takes events, publishes the ticks
// that a scheduler would, and stops in the order that lets work under way end:
// no more pushes, then no more requests, then the stores.
//
// With Config.Forward the functions are those of other processes, and the hub
// passes on what reaches their port. With Config.Data the stores keep their state
// in a directory: a hub that is killed at any moment and started again goes on
// with every commit and message that was answered, on whatever ports.
//
// A Firestore or Pub/Sub server that already runs elsewhere takes the place of
// the embedded one when the Config names it.
package hub
