package e2e

import (
	"encoding/json"
	"fmt"
	"path"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"truecost.dev/emulator/hub"
	"truecost.dev/emulator/pubsub"
)

const stepsTopic = "truecost-steps"

// A deck on a system where all is calm, and then where it is not: what is
// stored is the same.
func TestDeck(t *testing.T) {
	t.Parallel()
	s := start(t, hub.Config{}, nil)
	s.begin(t, "deck-1", input(t, "deck"))
	s.end(t, "deck-1", "complete")
	s.settle(t)
	checkComplete(t, s, "deck-1", 0)
	checkDeliveries(t, s, 1)
	checkOnce(t, s)
	calm := s.stored(t, "deck-1")
	for seed, delay := range []time.Duration{10 * time.Millisecond, 60 * time.Millisecond, 300 * time.Millisecond} {
		t.Run(fmt.Sprintf("every message three times within %v", delay), func(t *testing.T) {
			t.Parallel()
			threeTimes(t, pubsub.Faults{Seed: uint64(seed), Copies: 3, Delay: delay}, calm)
		})
	}
	t.Run("two runners on one store", func(t *testing.T) {
		t.Parallel()
		twoRunners(t, calm)
	})
	t.Run("agents killed in the middle", func(t *testing.T) {
		t.Parallel()
		killedAgents(t, calm)
	})
}

// checkOnce proves that the only run of a store went through without a retry
// and that each agent worked once: a step is claimed by one worker and an
// agent's task begun by one, or their fences would tell.
func checkOnce(t *testing.T, s *system) {
	t.Helper()
	runs := s.list(t, "runs")
	if len(runs) != 1 {
		t.Errorf("%d runs, want 1", len(runs))
	}
	tasks := s.list(t, "tasks")
	perAgent := map[string]int{}
	for name, task := range tasks {
		agent, _ := task["agent"].(string)
		perAgent[agent]++
		if task["fence"] != int64(1) || task["state"] != "TASK_STATE_COMPLETED" {
			t.Errorf("tasks/%s: fence %v, state %v; want 1 and completed", name, task["fence"], task["state"])
		}
	}
	for run := range runs {
		stored := s.list(t, "runs/"+run+"/steps")
		if len(stored) != len(steps()) || len(tasks) != len(steps()) {
			t.Errorf("%d steps and %d tasks, want %d of each", len(stored), len(tasks), len(steps()))
		}
		for i, id := range steps() {
			step := unpacked(t, stored[id], "record")
			got := fmt.Sprintln(step["st"], step["try"], step["fence"], step["revAt"], step["late"])
			if want := fmt.Sprintln("done", 1, 1, i+2, nil); got != want {
				t.Errorf("step %s: status, try, fence, rev, late = %s, want %s", id, got, want)
			}
			if agent, _ := step["agent"].(string); perAgent[agent] != 1 {
				t.Errorf("%s has %d tasks, want 1", agent, perAgent[agent])
			}
		}
	}
}

// threeTimes: every message comes three times, whenever it likes, and nobody
// works twice.
func threeTimes(t *testing.T, faults pubsub.Faults, calm picture) {
	t.Helper()
	s := start(t, hub.Config{Faults: faults}, nil)
	s.begin(t, "deck-1", input(t, "deck"))
	s.end(t, "deck-1", "complete")
	s.settle(t)
	checkDeliveries(t, s, 3)
	checkOnce(t, s)
	same(t, "every message three times", calm, s.stored(t, "deck-1"))
}

// checkDeliveries proves that every step of a run was published, and every
// message of a step delivered so many times.
func checkDeliveries(t *testing.T, s *system, times int) {
	t.Helper()
	published := map[string]bool{}
	for _, m := range s.PubSub().Messages() {
		if path.Base(m.Topic) != stepsTopic {
			continue
		}
		var body struct {
			Step string `json:"step"`
		}
		if err := json.Unmarshal(m.Data, &body); err != nil {
			t.Fatal(err)
		}
		published[body.Step] = true
		if m.Deliveries != times || m.Acks != times {
			t.Errorf("%s: %d deliveries, %d acknowledged; want %d of each", m.Data, m.Deliveries, m.Acks, times)
		}
	}
	for _, id := range steps() {
		if !published[id] {
			t.Errorf("step %s was never published", id)
		}
	}
}

// twoRunners: two systems that know nothing of each other work on one store.
// Each gets every message, each has agents of its own.
func twoRunners(t *testing.T, calm picture) {
	t.Helper()
	first := start(t, hub.Config{}, nil)
	at := first.Addresses()
	second := start(t, hub.Config{}, map[string]string{
		"FIRESTORE_EMULATOR_HOST": at.Firestore, "PUBSUB_EMULATOR_HOST": at.PubSub,
	})
	first.subscribe(t) // the second hub has turned the first one's subscription to itself
	second.begin(t, "deck-1", input(t, "deck"))
	first.end(t, "deck-1", "complete")
	first.settle(t)
	checkDeliveries(t, first, 2)
	checkOnce(t, first)
	same(t, "two runners", calm, first.stored(t, "deck-1"))
}

// subscribe gives the step function of a system a subscription of its own.
func (s *system) subscribe(t *testing.T) {
	t.Helper()
	conn, err := s.PubSub().Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	at := s.Addresses()
	_, err = pubsubpb.NewSubscriberClient(conn).CreateSubscription(t.Context(), &pubsubpb.Subscription{
		Name: "projects/" + project + "/subscriptions/pipeline_step_too", Topic: "projects/" + project + "/topics/" + stepsTopic,
		PushConfig: &pubsubpb.PushConfig{PushEndpoint: at.FunctionsURL() + "/pipeline_step"}, AckDeadlineSeconds: 60,
	})
	if err != nil {
		t.Fatal(err)
	}
}
