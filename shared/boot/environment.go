package boot

import (
	"context"
	"os"

	"github.com/sethvargo/go-envconfig"

	"truecost.dev/shared/gcp/cloudlog"
)

// FromEnvironment returns the services that the process's environment
// configures. They log to standard error in Cloud Logging's form.
func FromEnvironment() (*Services, error) {
	c, err := Load(context.Background(), envconfig.OsLookuper())
	if err != nil {
		return nil, err
	}
	return New(c, cloudlog.New(os.Stderr)), nil
}
