package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/sethvargo/go-envconfig"

	"truecost.dev/emulator/hub"
	emulator "truecost.dev/emulator/local"
)

// stopTime is how long a local system of this process may take to end.
const stopTime = 5 * time.Second

// startLocal starts a local system in this process, on free ports, for the
// commands that need one when none runs. Its state is in memory and ends with
// it; emulators that the environment names are used.
func startLocal(ctx context.Context) (endpoints, func(), error) {
	system, err := emulator.Start(ctx, hub.Config{
		Project: "truecost", Region: "us-central1", Log: slog.New(slog.DiscardHandler),
	}, envconfig.OsLookuper())
	if err != nil {
		return endpoints{}, nil, err
	}
	at := system.Addresses()
	stop := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		_ = system.Stop(ctx) // the process ends with it
	}
	return endpoints{Functions: at.FunctionsURL(), Firestore: at.Firestore, Project: at.Project}, stop, nil
}
