package main

import (
	"context"
	"os"
	"time"

	"truecost.dev/emulator/local"
)

// stopTimeout is how long work under way has to end.
const stopTimeout = 10 * time.Second

// startLocal starts a local system in this process, on free ports, for the
// command that needs one when none runs. It ends with stop, and its state, in
// memory, with it. Emulators that the environment names are used.
func startLocal(ctx context.Context) (at endpoints, stop func(), err error) {
	s, err := local.Start(ctx, local.Config{
		FirestoreHost: os.Getenv("FIRESTORE_EMULATOR_HOST"), PubSubHost: os.Getenv("PUBSUB_EMULATOR_HOST"),
	})
	if err != nil {
		return endpoints{}, nil, err
	}
	stop = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		_ = s.Stop(ctx) // the process ends with it
	}
	a := s.Addresses()
	return endpoints{Functions: a.FunctionsURL(), Firestore: a.Firestore, Project: a.Project}, stop, nil
}
