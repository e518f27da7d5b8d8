// Package transcript plays recorded HTTP conversations against a handler.
//
// A transcript is a txtar file: a comment that says what it shows, then
// sections in pairs, a request and the response to it.
//
//	-- request --
//	POST /a2a_location
//	Content-Type: application/json
//
//	{"jsonrpc": "2.0"}
//	-- response --
//	200
//	Content-Type: application/json
//
//	{"jsonrpc":"2.0"}
//
// The body of a request goes out as it stands, less the last newline. In a
// response every header is shown, sorted, but Content-Length and
// X-Content-Type-Options. go test -update writes what the handler answered into
// the files; a person reads the diff.
package transcript
