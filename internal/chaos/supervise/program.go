package supervise

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Build compiles programs into a directory.
func Build(ctx context.Context, dir string, packages ...string) error {
	args := append([]string{"build", "-buildvcs=false", "-o", dir + string(filepath.Separator)}, packages...)
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil { //nolint:gosec // G204: our own packages
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// Environment is ours without what would configure the processes.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return slices.ContainsFunc([]string{
			"TRUECOST_", "PIPELINE_", "FIRESTORE_", "PUBSUB_", "A2A_", "FUNCTION_", "GOOGLE_", "K_SERVICE=", "PORT=",
		}, func(prefix string) bool { return strings.HasPrefix(v, prefix) })
	})
}
