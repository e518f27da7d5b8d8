// Package fivestep asks specialists: agents anywhere that speak the five-step
// protocol, ours among them.
//
//	Discover ─▶ (log in) ─▶ Submit ─▶ Listen ─▶ the task as it ended
//	                          │         │ cut: again from the last event
//	                          │         │ five times cut: the status instead
//	              the same key every time, so that one task is begun
//
// A specialist may restart, lose connections and be busy meanwhile; what the
// protocol lets a requester do about that is done here, within the caller's
// context. A request that the specialist calls wrong is never sent again.
//
// A specialist is not trusted. Tokens and tasks go to the place the caller named
// and to no other: endpoints elsewhere make a bad card, and redirects are not
// followed. Everything read from it is bounded.
//
// It is not for agents of the pipeline, which speak another dialect (a2a.Client).
package fivestep
