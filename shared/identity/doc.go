// Package identity says who calls an agent. A caller is whoever a bearer token
// names, and a token is believed when this system signed it or when an issuer did
// that the operator named:
//
//	Authorization: Bearer … ─▶ iss ─┬─ our own:  HS256, given out by POST /login
//	                                ├─ an issuer: RS256 or ES256, OpenID Connect keys
//	                                └─ neither:   fault.Unknown, which is a 401
//
// Of every token the signature, the issuer, the audience, the expiry and the
// moment before which it does not count are checked, and the algorithm must be one
// of a short list that depends on the issuer, never on the token. Nobody may stay
// anonymous, but in the local system. What a body says of its sender grants
// nothing and is not read here.
//
// It decides who somebody is, not what they may do: tasks belong to who began
// them (package task). Users of the page are known by other tokens (package
// callable). Tokens and secrets are in no error and no log line, and are kept
// nowhere: of client secrets not even the configuration knows more than a hash.
package identity
