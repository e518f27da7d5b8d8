package main

import "context"

// startLocal starts a local system in this process, for the commands that need
// one when none runs. It is nil in a build without the local system.
var startLocal func(ctx context.Context) (endpoints, func(), error)
