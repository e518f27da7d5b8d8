// Command empty is the least a functions-framework server can be: what the cold
// start and the memory of ours are measured beside.
package main

import (
	"fmt"
	"net/http"
	"os"

	"github.com/GoogleCloudPlatform/functions-framework-go/funcframework"
	"github.com/GoogleCloudPlatform/functions-framework-go/functions"
)

func main() {
	functions.HTTP("empty", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	if err := funcframework.StartHostPort("127.0.0.1", os.Getenv("PORT")); err != nil {
		fmt.Fprintln(os.Stderr, "empty:", err)
		os.Exit(1)
	}
}
