// Package card makes the cards of an agent: who it is, what it can be asked for,
// where and how, in every form that a client may look for.
//
//	/.well-known/agent-card.json   A2A 1.0, and 0.3 beside it in the same object
//	/.well-known/agent.json        A2A 0.2, the five-step protocol and TrueCost's words
//	/.well-known/jwks.json         the public key of the signatures
//	GetExtendedAgentCard           the first, with schemas, limits and more examples
//	agent/card                     TrueCost's own short card
//
// All are bytes that are made once, from an agent and configuration alone: the
// addresses never come from the Host header of a caller, nothing is declared
// that does not work, and a required member is never empty. The same agent and
// configuration give the same bytes on every instance, signatures included, so
// that an ETag holds everywhere.
//
// # Signatures
//
// A signature is a JWS (RFC 7515) with ES256 over the canonical form (RFC 8785)
// of a card without signatures and without empty values; its protected header is
// {"alg":"ES256","kid":…,"typ":"JOSE"} and kid is the thumbprint of the key
// (RFC 7638). A card carries two:
//
//   - over the members of A2A 1.0 alone, which is what the SDKs of 1.0 verify: they
//     drop what they do not know before they canonicalize;
//   - over the whole card, so that nobody can bend the address that a client of 0.3
//     reads.
//
// There is no jku in the header: a card that says itself where its key is proves
// nothing. Verifiers get the key beside the agent, at /.well-known/jwks.json, or
// from their own configuration. [Verify] returns the members that are proven, and
// callers use those and nothing else.
package card
