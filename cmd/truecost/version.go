package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// runVersion prints what this program is made of.
func runVersion(_ context.Context, c *call) error {
	v := struct {
		Version string `json:"version"`
		Go      string `json:"go"`
		Catalog string `json:"catalog"` // edition of the cost tables
		Schema  string `json:"schema"`  // of the documents it takes
	}{"devel", runtime.Version(), catalog.Version, estimate.SchemaVersion}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	if c.json {
		return c.printJSON(v)
	}
	_, err := fmt.Fprintf(c.stdout, "truecost %s, catalog %s, schema %s, %s\n", v.Version, v.Catalog, v.Schema, v.Go)
	return err
}
