// Package script says how agents behave in a world of crashes, and from that
// how a run ends. What an agent does with a call follows from the call's id
// alone, so that every repetition of it is answered alike, whoever asks, and an
// end can be foretold without running anything.
//
// Foretell knows the estimate flow in its own words (a chain of nodes, three
// attempts, a pass mark of 80) and not by asking the engine, which is what it is
// compared with.
package script
