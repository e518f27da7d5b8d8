package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/fault"
)

// agentNames lists the agent functions: each primary, its scorer and its critic.
func agentNames() []string {
	var names []string
	for _, primary := range estimate.Agents {
		names = append(names, primary, primary+"_scorer", primary+"_critic")
	}
	return names
}

// standalone are the agents that no family has.
var standalone = []string{"orchestrator", "browse"}

// runAgents prints the card of every agent.
func runAgents(ctx context.Context, c *call) error {
	s, err := c.connect(ctx, false)
	if err != nil {
		return err
	}
	defer s.stop()
	names := append(agentNames(), standalone...)
	cards := make([]json.RawMessage, len(names))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(6)
	for i, name := range names {
		g.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			return getJSON(ctx, s.http, strings.TrimSuffix(s.Functions, "/")+"/a2a_"+name+"/.well-known/agent-card.json", &cards[i])
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("card of an agent: %w", err)
	}
	if c.json {
		return c.printJSON(cards)
	}
	t := tabwriter.NewWriter(c.stdout, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(t, "AGENT\tVERSION\tDOES")
	for i, raw := range cards {
		var card struct{ Name, Version, Description string }
		if err := json.Unmarshal(raw, &card); err != nil || card.Name == "" {
			return fault.Wrap(fault.Internal, err, "the card of %s cannot be read", names[i])
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\n", card.Name, card.Version, card.Description)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
