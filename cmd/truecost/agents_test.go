package main

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"truecost.dev/functions"
	"truecost.dev/shared/boot"
	"truecost.dev/shared/host"
)

// The command lists the agents that are deployed, and no others.
func TestAgentsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	var table []string
	for _, f := range functions.Table(boot.New(boot.Config{}, slog.New(slog.DiscardHandler))) {
		if f.Kind == host.Agent {
			table = append(table, strings.TrimPrefix(f.Name, "a2a_"))
		}
	}
	if got := append(agentNames(), standalone...); !slices.Equal(got, table) {
		t.Errorf("truecost agents lists\n%v\nand the table has\n%v", got, table)
	}
}
