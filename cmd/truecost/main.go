// Command truecost starts estimates, watches them and talks to agents.
//
// It is a client: what it shows comes from the callable functions, from the
// agents' JSON-RPC and from a Firestore listener, as for any frontend. A
// document is validated here before anything is sent.
//
//	0    done
//	1    the run failed or was canceled
//	2    bad input or flags: usage, or one line per fault with its JSON path
//	3    the service cannot be reached
//	130  interrupted; the run goes on
//
// With -json stdout holds one JSON document and nothing else; progress and
// errors go to stderr.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(truecost()) }

// truecost runs the command line of this process. The first interrupt ends the
// command cleanly, a second one at once.
func truecost() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], system{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, startLocal: startLocal,
	})
}
