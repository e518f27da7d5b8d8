// Package callable speaks the protocol of Firebase callable functions, which is
// what httpsCallable of the Firebase SDKs sends: POST {"data": …} is answered
// with {"result": …} or with {"error": {"status", "message", "details"}}.
//
//	request ─▶ preflight │ guard: POST, JSON, {"data"} alone │ token ─▶ Handle
//	answer  ◀─ CORS headers on everything, errors too ◀─ table of errors ◀──┘
//
// It is not for agents (package a2a) nor for plain HTTP. It keeps nothing
// between requests and starts no goroutine. Causes of errors, bodies and tokens
// never leave it: a caller reads the public message of a fault, the log its
// chain.
package callable
