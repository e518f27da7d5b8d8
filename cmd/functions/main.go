// Command functions serves the module's functions as the cloud does: through
// the functions framework, the one that FUNCTION_TARGET names, or all of them
// by path without it, on PORT (8080).
package main

import (
	"fmt"
	"os"

	"github.com/GoogleCloudPlatform/functions-framework-go/funcframework"

	_ "truecost.dev" // registers the functions
)

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	// Only the loopback interface, unless a container says otherwise: in Cloud
	// Run K_SERVICE is set and the platform is the only one that can reach us.
	host := "127.0.0.1"
	if os.Getenv("K_SERVICE") != "" {
		host = ""
	}
	if err := funcframework.StartHostPort(host, port); err != nil {
		fmt.Fprintln(os.Stderr, "functions:", err)
		os.Exit(1)
	}
}
