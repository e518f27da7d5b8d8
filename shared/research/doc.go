// Package research finds what pages say on a topic: it searches, reads what was
// found, extracts what an instruction asks for, and checks that every quote
// stands in the page it is from.
//
//	Question ─▶ Search ─▶ hits ─▶ Fetch, several at once ─▶ sources ─▶ Extractor ─▶ draft ─▶ Grounding ─▶ Result
//	                                                                    ▲                       │ below 80, once
//	                                                                    └──── rejected quotes ──┘
//
// Search, Fetch and Extractor are ports. What they bring is data: nothing in a
// page decides what is searched, read, claimed or told, other than by being
// quoted as that page's. The extractor here, Extractive, goes further: what it
// quotes from one page depends on that page and the question alone, so a hostile
// page can neither change nor push out what another one says.
//
// Texts pass Clean before anything looks at them: no control, invisible or
// direction characters, and no marks like [1] but our own.
package research
