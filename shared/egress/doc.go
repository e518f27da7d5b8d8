// Package egress is the one way out to addresses that come from outside: the
// webhooks of callers and the pages that a search has found.
//
//	address ─▶ Check: scheme, host, port ─▶ resolve ─▶ dial ─▶ guard: is the dialled address public? ─▶ request
//	              ▲                                                                                        │
//	              └──────────────────────────── every redirect, a few at most ◀────────────────────────────┘
//
// What decides is the address that is dialled, after names were resolved: a name
// that points elsewhere the second time, octal and mapped forms and redirects all
// end there. Private, loopback, link-local, multicast, translated and metadata
// addresses are refused. Answers are bounded in bytes and in time, headers too.
// There is no proxy from the environment, no cookie, no connection kept between
// two requests, and no header of the caller's goes to another host than the first.
//
// It is not for addresses from configuration: those are trusted, and often
// private.
package egress
