package boot

import (
	"fmt"
	"strings"

	"truecost.dev/shared/flows"
	"truecost.dev/shared/host"
	"truecost.dev/shared/runner"
)

// Estimate returns the pipeline of estimates as this configuration has it.
func (c Config) Estimate() (runner.Pipeline, error) {
	return flows.Estimate(flows.Options{
		PassScore: c.PassScore, MaxRetries: c.MaxRetries, AgentTime: c.AgentTime, RunTime: c.RunTime, RetryPause: c.RetryPause,
		Overdue: c.Overdue,
	})
}

// CheckFlows proves at the start that every flow may run on the agents of a
// table. The error names every problem.
func (s *Services) CheckFlows(table []host.Function) error {
	p, err := s.Config.Estimate()
	if err != nil {
		return err
	}
	agents := map[string]bool{}
	for _, f := range table {
		if name, ok := strings.CutPrefix(f.Name, "a2a_"); ok && f.Kind == host.Agent {
			agents[name] = true
		}
	}
	if err := flows.Check(p.Flow, agents); err != nil {
		return fmt.Errorf("flow %s: %w", p.Flow.ID, err)
	}
	return nil
}
