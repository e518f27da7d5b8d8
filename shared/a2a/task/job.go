package task

import (
	"bytes"
	"context"
	"encoding/json"

	"truecost.dev/shared/fault"
)

// What a queue asks of a worker.
const (
	DoWork = "work" // Worker.Work
	DoTell = "tell" // Worker.Tell
)

// Job is a message of a queue: what to do with which task. It carries references
// only; everything that counts is in the store.
type Job struct {
	Do string `json:"do"`
	Ref
}

// DecodeJob reads the data of a message. A fault.Invalid one can never be done:
// acknowledge it and say so.
func DecodeJob(data []byte) (Job, error) {
	var j Job
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&j); err != nil {
		return Job{}, fault.Wrap(fault.Invalid, err, "a job is a JSON object with do, agent and task")
	}
	switch {
	case d.More():
		return Job{}, fault.New(fault.Invalid, "a job is one JSON object")
	case j.Do != DoWork && j.Do != DoTell:
		return Job{}, fault.New(fault.Invalid, "do: %q is neither %s nor %s", j.Do, DoWork, DoTell)
	case j.Agent == "":
		return Job{}, fault.New(fault.Invalid, "agent: want a name")
	case j.ID == "":
		return Job{}, fault.New(fault.Invalid, "task: want an id")
	}
	return j, nil
}

// Do does what a message of the queue asks for.
func (w *Worker) Do(ctx context.Context, j Job) error {
	if j.Do == DoTell {
		return w.Tell(ctx, j.Ref)
	}
	return w.Work(ctx, j.Ref)
}
