// Package pubsub is a Pub/Sub server that runs inside a process: the public
// gRPC services Publisher and Subscriber, and push delivery over HTTP, held
// to what the service does in production. The official clients use it
// unchanged through PUBSUB_EMULATOR_HOST or over Dial.
//
// A message is published to a topic; each subscription of the topic keeps its
// own queue of it, and the entry moves like this:
//
//	              take                    acknowledge
//	waiting ───────────────▶ leased ─────────────────────▶ gone
//	   ▲   eligible, and        │
//	   │   head of its key      │ nack, deadline over
//	   └────────────────────────┤
//	     after the backoff      └──▶ dead-letter topic, after the last attempt
//
// What it does, beside the service:
//
//	Topics, subscriptions     faithful     create, get, list with pages, update by mask, delete
//	Publish                   faithful     limits and codes of production; ids increase
//	Pull, StreamingPull       faithful     flow control, deadline changes, pings of protocol 1
//	Acknowledge, nack         faithful     ack ids are unique per delivery, stale ones are ignored
//	Ordering keys             approximate  one message of a key is out at a time, for pull as well as for push
//	Retry policy              approximate  min × 2ⁿ up to max, without jitter
//	Dead letters              faithful     one atomic move, four attributes; the count is exact
//	Push                      approximate  always as an Eventarc trigger has it (binary CloudEvent);
//	                                       without a token, whatever the push config says
//	Push window               approximate  doubles with a round of successes, halves on a failure;
//	                                       a failing endpoint does not pause the subscription
//	Retention, expiration     absent       settings are kept and answered, nothing grows old
//	Filters, exactly once     absent       refused with UNIMPLEMENTED, as are transforms, schemas,
//	                                       exports and unwrapped push
//	Snapshots, Seek, Detach   absent       answer UNIMPLEMENTED by name
//	Access control            absent       any caller may do anything
//
// One suite of tests runs on this server and, where it is installed, on the
// official emulator. That one does not know all limits, and after a nack it
// lets the rest of an ordering key pass; this server holds it back.
//
// The state of a server that New returns is in memory and goes with it. One that
// Open returns keeps it in a directory: topics, subscriptions, what is not
// acknowledged, how often it was delivered and how long it backs off. What was
// answered survives the death of the process, by SIGKILL too: a message that was
// published is delivered, one whose acknowledgement was answered is not again,
// and a dead letter is moved once. Leases end with the process, so that what was
// leased is due at once; the ack ids of before are stale. Every delivery is in
// the journal before it leaves (one write of some 30 bytes), for a count that can
// be lost would keep a message that kills its handlers alive. A power cut may take
// the last moments (see the package journal).
//
// For tests there are a clock
// that stands until it is told to move (Clock), delivery faults drawn from a
// seed (Faults), errors per call (Options.Fail), the list of what was
// published (Messages) and a wait for quiet (Idle).
package pubsub
