// Package functions lists every HTTP function this module deploys. A line here
// is all that routing, cards, deployment and the local system know about a
// family of agents or a group of callables.
package functions

import (
	"slices"

	"truecost.dev/functions/browse"
	"truecost.dev/functions/cost"
	"truecost.dev/functions/estimates"
	"truecost.dev/functions/final"
	"truecost.dev/functions/location"
	"truecost.dev/functions/risk"
	"truecost.dev/functions/scope"
	"truecost.dev/functions/timeline"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/boot"
	"truecost.dev/shared/host"
)

// Table returns the functions in the order frontends show them.
func Table(s *boot.Services) []host.Function {
	e := s.Env()
	ports := estimates.Ports{
		Runner: s.Runner,
		Store:  func() (estimates.Store, error) { return s.Estimates() },
		Runs:   func() (estimates.Runs, error) { return s.Estimates() },
	}
	return slices.Concat(
		e.Agents(location.Agents()),
		e.Agents(scope.Agents()),
		e.Agents(cost.Agents()),
		e.Agents(risk.Agents()),
		e.Agents(timeline.Agents()),
		e.Agents(final.Agents()),
		e.TaskAgents([]task.Agent{estimates.Orchestrator(ports), browse.Agent(s.Research)}),
		e.Callables(estimates.Callables(ports)),
	)
}
