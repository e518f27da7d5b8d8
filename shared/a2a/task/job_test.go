package task_test

import (
	"encoding/json"
	"testing"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

func TestJobs(t *testing.T) {
	t.Parallel()
	want := task.Job{Do: task.DoTell, Ref: task.Ref{Agent: "cost", ID: "t"}}
	b, err := json.Marshal(want)
	if err != nil || string(b) != `{"do":"tell","agent":"cost","task":"t"}` {
		t.Fatalf("a job is %s, %v on the wire", b, err)
	}
	if got, err := task.DecodeJob(b); err != nil || got != want {
		t.Errorf("DecodeJob(%s) = %+v, %v, want %+v", b, got, err, want)
	}
	for _, text := range []string{
		``, `7`, `{`, `{}`, `{"do":"sing","agent":"cost","task":"t"}`, `{"do":"work","task":"t"}`, `{"do":"work","agent":"cost"}`,
		`{"do":"work","agent":"cost","task":7}`, `{"do":"work","agent":"cost","task":"t"}{}`,
		`{"v":1,"run":"est-1~1","rev":0}`, // of a run
	} {
		if j, err := task.DecodeJob([]byte(text)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("DecodeJob(%s) = %+v, %v, want kind invalid", text, j, err)
		}
	}
}

func FuzzDecodeJob(f *testing.F) {
	f.Add([]byte(`{"do":"work","agent":"cost","task":"t"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := task.DecodeJob(data)
		if err == nil && (j.Agent == "" || j.ID == "" || j.Do != task.DoWork && j.Do != task.DoTell) {
			t.Errorf("DecodeJob(%s) = %+v, which nobody can do", data, j)
		}
	})
}
