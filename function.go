// Package truecost is what the Go function builder builds: it registers every
// function of the module with the functions framework. Which of them an
// instance serves, FUNCTION_TARGET says; without it all are served by path.
package truecost

import (
	"log/slog"
	"os"

	framework "github.com/GoogleCloudPlatform/functions-framework-go/functions"

	"truecost.dev/functions"
	"truecost.dev/shared/boot"
	"truecost.dev/triggers"
)

func init() {
	services, err := boot.FromEnvironment()
	if err != nil {
		slog.Error("configuration", slog.Any("error", err)) //nolint:sloglint // nothing is set up yet to log with
		os.Exit(1)
	}
	for _, f := range functions.Table(services) {
		framework.HTTP(f.Name, f.Handler.ServeHTTP)
	}
	for _, t := range triggers.Table(services) {
		framework.CloudEvent(t.Name, t.Event(services.Log))
	}
}
