// Package engine decides what happens next in a run. It is pure: no I/O, no
// clock, no randomness. A run is data (State), a flow is data (Flow), and
//
//	Next(flow, state, event, now) → state′, effects, verdict
//
// is the only way a run changes. The runner around it makes the effects true:
// it commits state, view and outputs at once, and publishes afterwards.
//
//	            ┌────────────────────────── retry with feedback ──┐
//	blocked ─▶ primary ─▶ scoring ─┬─ ≥ threshold ─▶ passed        │
//	                               ├─ below, retries left ─▶ critiquing
//	                               └─ below, none left ─▶ failed or degraded
//
// Invariants, held by every reachable state and checked in tests:
//
//   - an ended run never changes; rev grows by one per applied event;
//   - State.Open holds exactly the steps that should happen now: Open(f, s);
//   - a node starts only after all its needs passed or degraded;
//   - at most Retries+1 attempts per node, one scorer per attempt, one critic
//     per failed attempt but the last;
//   - a transport failure never costs an attempt, a score never costs a try;
//   - a scorer that fails never passes a node.
//
// It is not for: calling agents, storing, publishing (runner), or for what an
// output means (the agents).
package engine
