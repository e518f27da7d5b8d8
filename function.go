// Package truecost is what the Go function builder builds: it registers every
// function of the module with the functions framework. Which of them an
// instance serves, FUNCTION_TARGET says; without it all are served by path.
package truecost

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/GoogleCloudPlatform/functions-framework-go/funcframework"
	framework "github.com/GoogleCloudPlatform/functions-framework-go/functions"

	"truecost.dev/functions"
	"truecost.dev/shared/boot"
	"truecost.dev/triggers"
)

func init() {
	if err := register(); err != nil {
		fmt.Fprintln(os.Stderr, "truecost:", err)
		os.Exit(1)
	}
}

func register() error {
	services, err := boot.FromEnvironment()
	if err != nil {
		return err
	}
	all := os.Getenv("FUNCTION_TARGET") == ""
	var errs []error
	table := functions.Table(services)
	if err := services.CheckFlows(table); err != nil {
		return err
	}
	for _, f := range table {
		framework.HTTP(f.Name, f.Handler.ServeHTTP)
		if all {
			// The framework serves a name at exactly /name; a card is below it.
			below := http.StripPrefix("/"+f.Name, f.Handler).ServeHTTP
			errs = append(errs, funcframework.RegisterHTTPFunctionContext(context.Background(), "/"+f.Name+"/", below))
		}
	}
	for _, t := range triggers.Table(services, table) {
		framework.CloudEvent(t.Name, t.Event(services.Log))
	}
	return errors.Join(errs...)
}
