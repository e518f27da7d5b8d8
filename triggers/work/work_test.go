package work_test

import (
	"errors"
	"testing"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
	"truecost.dev/triggers/work"
)

func TestHandle(t *testing.T) {
	t.Parallel()
	away := errors.New("nothing opens")
	const job = `{"do":"work","agent":"cost","task":"t"}`
	for _, tt := range []struct {
		name, data string
		open       func() (*task.Worker, error)
		want       fault.Kind
	}{
		{"what is no job is dropped before anything opens", `{"v":1,"run":"est-1~1"}`, func() (*task.Worker, error) { return nil, away }, fault.Invalid},
		{"a worker that does not open asks for another try", job, func() (*task.Worker, error) { return nil, away }, fault.Internal},
		{"an agent that is not here", job, func() (*task.Worker, error) { return &task.Worker{}, nil }, fault.NotFound},
	} {
		if err := work.Handle(tt.open)(t.Context(), []byte(tt.data)); fault.KindOf(err) != tt.want {
			t.Errorf("%s: %v, want kind %s", tt.name, err, tt.want)
		}
	}
}
