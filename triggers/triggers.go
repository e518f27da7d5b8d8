// Package triggers lists what events start. One line per function.
package triggers

import (
	"context"

	"truecost.dev/shared/boot"
	"truecost.dev/shared/host"
	"truecost.dev/triggers/deadletter"
	"truecost.dev/triggers/step"
	"truecost.dev/triggers/sweep"
)

// Table lists every event function this module deploys.
func Table(s *boot.Services) []host.Trigger {
	return []host.Trigger{
		{Name: "pipeline_step", Topic: s.Config.StepsTopic, Handle: data(step.Handle(s.Runner))},
		{Name: "pipeline_control", Topic: s.Config.ControlTopic, Handle: data(step.Handle(s.Runner))},
		{Name: "pipeline_sweep", Topic: s.Config.SweepTopic, Handle: data(sweep.Handle(s.Runner))},
		{Name: "pipeline_dead", Topic: s.Config.DeadTopic, Handle: letter(deadletter.Handle(s.Runner))},
	}
}

func data(handle func(context.Context, []byte) error) func(context.Context, host.Delivery) error {
	return func(ctx context.Context, d host.Delivery) error { return handle(ctx, d.Data) }
}

func letter(handle func(context.Context, []byte, map[string]string) error) func(context.Context, host.Delivery) error {
	return func(ctx context.Context, d host.Delivery) error { return handle(ctx, d.Data, d.Attributes) }
}
