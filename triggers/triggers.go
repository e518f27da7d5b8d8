// Package triggers lists what events start. One line per function.
package triggers

import (
	"context"
	"time"

	"truecost.dev/shared/boot"
	"truecost.dev/shared/host"
	"truecost.dev/triggers/deadletter"
	"truecost.dev/triggers/step"
	"truecost.dev/triggers/sweep"
	"truecost.dev/triggers/work"
)

// deliveries is how often a message is delivered in vain before it is given up.
const deliveries = 20

// Table lists every event function this module deploys. Runs and tasks are swept
// apart, so that neither waits for, or fails with, the other. The calls of agents take
// minutes and have a topic of their own: Pub/Sub holds back the whole of a
// subscription whose pushes are slow or fail, and what takes a moment must not
// wait with them.
//
// agents is the table of functions, whose agents the queue of tasks works for.
func Table(s *boot.Services, agents []host.Function) []host.Trigger {
	c := s.Config
	worker := s.Env().Worker(agents)
	calls := host.Push{
		Ack: 600 * time.Second, Backoff: [2]time.Duration{10 * time.Second, 600 * time.Second},
		Deliveries: deliveries, DeadLetter: c.DeadTopic,
	}
	control := host.Push{
		Ack: 60 * time.Second, Backoff: [2]time.Duration{10 * time.Second, 60 * time.Second},
		Deliveries: deliveries, DeadLetter: c.DeadTopic,
	}
	return []host.Trigger{
		{Name: "pipeline_step", Topic: c.StepsTopic, Push: calls, Handle: data(step.Handle(s.Runner))},
		{Name: "pipeline_control", Topic: c.ControlTopic, Push: control, Handle: data(step.Handle(s.Runner))},
		{Name: "pipeline_sweep", Topic: c.SweepTopic, Handle: once(data(sweep.Handle(s.Runner)))},
		{Name: "pipeline_dead", Topic: c.DeadTopic, Handle: letter(deadletter.Handle(s.Runner, s.Log))},
		{Name: "agent_work", Topic: c.WorkTopic, Push: calls, Handle: data(work.Handle(worker))},
		{Name: "agent_sweep", Topic: c.SweepTopic, Handle: once(data(sweep.Handle(worker)))},
	}
}

func data(handle func(context.Context, []byte) error) func(context.Context, host.Delivery) error {
	return func(ctx context.Context, d host.Delivery) error { return handle(ctx, d.Data) }
}

// once leaves out deliveries beyond the first. A tick that failed is past, and the
// next one does its work: made again and again, ticks would pile up behind
// whatever made them fail, and each of them reads every due run.
func once(handle func(context.Context, host.Delivery) error) func(context.Context, host.Delivery) error {
	return func(ctx context.Context, d host.Delivery) error {
		if d.Attempt > 1 {
			return nil
		}
		return handle(ctx, d)
	}
}

func letter(handle func(context.Context, []byte, map[string]string) error) func(context.Context, host.Delivery) error {
	return func(ctx context.Context, d host.Delivery) error { return handle(ctx, d.Data, d.Attributes) }
}
