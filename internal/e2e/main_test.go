package e2e

import (
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/GoogleCloudPlatform/functions-framework-go/funcframework"

	_ "truecost.dev" // registers the functions, for a process of their own
)

// asFunctions is the variable whose value, a port, makes this program serve the
// module's functions as the cloud does, in place of running tests.
const asFunctions = "E2E_FUNCTIONS_PORT"

func TestMain(m *testing.M) {
	if port := os.Getenv(asFunctions); port != "" {
		serveFunctions(port)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil { // the tests wait more than they compute
		panic(err)
	}
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

func serveFunctions(port string) {
	go func() { // must not outlive the test that holds the other end
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	err := funcframework.StartHostPort("127.0.0.1", port)
	fmt.Fprintln(os.Stderr, "functions:", err)
	os.Exit(1)
}
