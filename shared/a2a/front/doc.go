// Package front is the HTTP side of an agent in every dialect.
//
//	HTTP ─▶ guard ─▶ sniff ─▶ codec.decode ─▶ desk ─▶ store, queue
//	        who, type,  whose                   │
//	        size, JSON  dialect                 │
//	HTTP ◀────────────── codec.encode, frame ◀──┘ task, message, error, events
//
// The guard lets a request in or turns it away before anything is spent on it.
// sniff finds the dialect: by the path, then by the headers, then by the members
// at the top of the body. A codec is one dialect: pure functions between its
// bytes and the words of the task model (call, answer). The desk does what is
// asked; it knows no dialect.
//
// Invariants:
//   - A request that could not be understood or allowed is an error; work that
//     went wrong is a task with the state failed.
//   - Every answer with a body has a Content-Type, every error is JSON in the
//     dialect of its request, and none carries the text of an inner error.
//   - An error before the first event of a stream is a plain answer. A stream that
//     closes early has no end in it; its caller listens again.
//   - What a body claims grants nothing: who asks is known before it is read, and
//     what proves it goes no further.
package front
