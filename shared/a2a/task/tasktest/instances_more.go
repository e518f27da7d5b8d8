package tasktest

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// dies submits a message and has an instance begin to work on it, which then
// dies.
func (h *House) dies(t *testing.T, i int, s task.Send) {
	t.Helper()
	got, err := h.Instances[i].Submit(t.Context(), s)
	wantText(t, "Submit()", told(got, err), "task submitted")
	h.diesAgain(t, i)
}

// diesAgain has an instance take what waits in the queue, and die at it.
func (h *House) diesAgain(t *testing.T, i int) {
	t.Helper()
	before := h.Runs.Load()
	h.background.Go(func() { h.Deliver(t.Context(), i) })
	for range 100 {
		if rest(soon); h.Runs.Load() > before {
			break
		}
	}
	h.Kill(i)
}

func requeues(t *testing.T, h *House) {
	t.Helper()
	h.dies(t, 0, Message(First, "WORKING make=x more=y hang=1 make=z COMPLETED"))
	watched := h.follow(t, 1, new(int64(0)))
	h.until(t, "task working a=xy") // also while the lease runs out: the queue will bring it
	if _, err := h.Settle(t.Context(), 2, FirstTask()); err != nil {
		t.Fatal(err)
	}
	wantText(t, "Get()", h.get(t, 1), "task completed a=z")
	wantText(t, "Follow()", <-watched, "1 working; 2 working; 3 a=x; 4 a+=y; 5 working; 6 a=x; 7 a+=y; 8 a=z; 9 completed")
	h.wantRuns(t, 2)
	h.wantSound(t, 1)
}

func givesUp(t *testing.T, h *House) {
	t.Helper()
	h.Add(h.Instances[0].Store.StoreFinder)
	h.dies(t, 0, Message(First, "WORKING hang=9"))
	for _, i := range []int{1, 2} {
		for range 10 {
			rest(Lease)
			if err := h.Instances[3].Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		h.diesAgain(t, i)
	}
	r, err := h.Settle(t.Context(), 3, FirstTask())
	if err != nil || r.Retry {
		t.Errorf("Settle() = %+v, %v, want a failure that stands", r, err)
	}
	wantText(t, "Get()", h.get(t, 3), "task failed (the work was interrupted)")
	h.wantRuns(t, 3)
	h.wantSound(t, 1)
}

func fails(t *testing.T, h *House) {
	t.Helper()
	s := Message(First, "WORKING=well hang=1 make=x COMPLETED")
	s.Keep = false
	first := h.send(t, 0, s)
	h.until(t, "task working (well)")
	h.Kill(0)
	const interrupted = "task failed (the work was interrupted; send the message again)"
	h.until(t, interrupted) // told so at once, and written when the sweep comes
	r, err := h.Settle(t.Context(), 2, FirstTask())
	if err != nil || !r.Retry {
		t.Fatalf("Settle() = %+v, %v, want a failure that may pass", r, err)
	}
	wantText(t, "Get()", h.get(t, 1), interrupted)
	wantText(t, "Send(repeated)", <-h.send(t, 1, s), interrupted) // A2A: what has ended has ended
	h.wantSound(t, 1)
	res, err := h.Instances[1].Call(t.Context(), s) // a caller that polls means it
	wantText(t, "Call(repeated)", told(res, err), "task completed a=x")
	wantText(t, "Get()", h.get(t, 2), "task completed a=x")
	<-first
	wantText(t, "Get() when the dead one gave up", h.get(t, 2), "task completed a=x")
	wantText(t, "Follow()", <-h.follow(t, 2, new(int64(0))),
		"1 working (well); 2 failed (the work was interrupted; send the message again); 3 working; 4 working (well); 5 a=x; 6 completed")
	h.wantRuns(t, 2)
	h.wantSound(t, 2)
}

func replies(t *testing.T, h *House) {
	t.Helper()
	for i := range h.Instances {
		wantText(t, "Send()", <-h.send(t, i, Message(First, "say=hello")), "message hello")
		wantText(t, "Stream(repeated)", Lines(h.Instances[i].Stream(t.Context(), Message(First, "say=hello"))), "1 message hello")
		wantText(t, "Get()", h.get(t, i), "error no such task")
		wantText(t, "Follow()", <-h.follow(t, i, nil), "error no such task: task not found")
		_, err := h.Instances[i].Cancel(t.Context(), anybody, FirstTask())
		wantKind(t, "Cancel()", err, fault.NotFound)
	}
	wantText(t, "Stream()", Lines(h.Instances[0].Stream(t.Context(), Message("1", "say=hello"))), "1 message hello")
	h.wantRuns(t, 2)
	page, err := h.Instances[1].List(t.Context(), anybody, task.Query{})
	if err != nil || page.Total != 0 || page.Tasks == nil {
		t.Errorf("List() = %+v, %v, want an empty page", page, err)
	}
	got, err := h.Instances[0].Submit(t.Context(), Message(Second, "say=hello"))
	wantText(t, "Submit()", told(got, err), "task submitted")
	h.Deliver(t.Context(), 1)
	got, _, err = h.Instances[2].Get(t.Context(), anybody, got.ID)
	wantText(t, "Get(submitted)", told(got, err), "task completed (hello)")
}

// answer is a message of the task of First.
func answer(id, text string) task.Send {
	s := Message(id, text)
	s.Message.TaskID = FirstTask()
	return s
}

func asks(t *testing.T, h *House) {
	t.Helper()
	watched := h.follow(t, 2, new(int64(0)))
	wantText(t, "Follow() before there is a task", <-watched, "error no such task: task not found")
	for i := range h.Instances {
		wantText(t, "Send()", <-h.send(t, i, Message(First, "make=x ask=where?")), "task input_required (where?) a=x")
	}
	watched = h.follow(t, 2, new(int64(0)))
	s := answer(Second, "make.b=y ask=thanks")
	s.Message.ContextID = "another"
	_, err := h.Instances[0].Send(t.Context(), s)
	wantKind(t, "Send(another context)", err, fault.Invalid)
	for i := range h.Instances {
		wantText(t, "Send(answer)", <-h.send(t, i, answer(Second, "make.b=y ask=thanks")), "task completed (thanks) a=x b=y")
	}
	wantText(t, "Follow()", <-watched, "1 a=x; 2 input_required (where?); 3 working; 4 b=y; 5 completed (thanks)")
	_, err = h.Instances[1].Send(t.Context(), answer(Second, "make.b=z ask=thanks"))
	wantKind(t, "Send(another answer, the same id)", err, fault.Invalid)
	_, err = h.Instances[1].Send(t.Context(), answer("2", "COMPLETED"))
	wantKind(t, "Send(to what has ended)", err, fault.Conflict)
	got, _, err := h.Instances[1].Get(t.Context(), anybody, FirstTask())
	if err != nil {
		t.Fatal(err)
	}
	var history strings.Builder
	for _, m := range got.History {
		fmt.Fprintf(&history, "%s: %s; ", m.Role, texts(m.Parts))
		if m.TaskID != got.ID || m.ContextID != got.ContextID {
			t.Errorf("the history has a message of task %q in context %q, want %s, %s", m.TaskID, m.ContextID, got.ID, got.ContextID)
		}
	}
	wantText(t, "the history", history.String(), "ROLE_USER: make=x ask=where?; ROLE_AGENT: where?; ROLE_USER: make.b=y ask=thanks; ")
	h.wantRuns(t, 2)
	h.wantSound(t, 1)
}

func cancelsQuestion(t *testing.T, h *House) {
	t.Helper()
	wantText(t, "Send()", <-h.send(t, 0, Message(First, "ask=where?")), "task input_required (where?)")
	got, err := h.Instances[1].Cancel(t.Context(), anybody, FirstTask())
	wantText(t, "Cancel()", told(got, err), "task canceled (the task was canceled)")
	_, err = h.Instances[2].Send(t.Context(), answer(Second, "here"))
	wantKind(t, "Send(the answer to a canceled question)", err, fault.Conflict)
	h.wantRuns(t, 1)
	h.wantSound(t, 1)
}

// cancelsJustBefore cancels elsewhere when the worker has no time left to notice.
func cancelsJustBefore(t *testing.T, h *House) {
	t.Helper()
	reached := make(chan struct{})
	canceled := make(chan struct{})
	h.Instances[0].Store.Before = func(_ int64, r task.Record) error {
		if r.Task.Status.State == sdk.TaskStateCompleted {
			close(reached)
			<-canceled
			h.Instances[0].Store.Before = nil
		}
		return nil
	}
	first := h.send(t, 0, Message(First, "WORKING make=x sleep=200ms make=y COMPLETED"))
	<-reached
	got, err := h.Instances[1].Cancel(t.Context(), anybody, FirstTask())
	wantText(t, "Cancel()", told(got, err), "task canceled (the task was canceled) a=x")
	close(canceled)
	wantText(t, "Send()", <-first, "task canceled (the task was canceled) a=x")
	wantText(t, "Get()", h.get(t, 2), "task canceled (the task was canceled) a=x")
	h.wantSound(t, 1)
}

func cancelsLate(t *testing.T, h *House) {
	t.Helper()
	for _, tt := range []struct{ id, script, want string }{
		{First, "make=x COMPLETED", "task completed a=x"},
		{Second, "REJECTED=no", "task rejected (no)"},
		{"3", "fail=invalid", "task failed (it is invalid)"},
		{"4", "fail=unavailable", "task failed (it is unavailable)"},
	} {
		res, err := h.Instances[0].Send(t.Context(), Message(tt.id, tt.script))
		wantText(t, "Send("+tt.script+")", told(res, err), tt.want)
		got, err := h.Instances[1].Cancel(t.Context(), anybody, res.TaskInfo().TaskID)
		if got == nil {
			_, _, err = h.Instances[1].Get(t.Context(), anybody, res.(*sdk.Task).ID)
			t.Fatalf("Cancel() = %v", err)
		}
		wantText(t, "Cancel("+tt.script+")", told(got, err), tt.want)
	}
	h.wantSound(t, 1)
}

// latecomer has a worker lose its lease to another, and end before that one: the
// work is paid for.
func latecomer(t *testing.T, h *House) {
	t.Helper()
	got, err := h.Instances[0].Submit(t.Context(), Message(First, "make=x sleep=1500ms make.b=y COMPLETED=late"))
	wantText(t, "Submit()", told(got, err), "task submitted")
	var awake atomic.Bool
	frozen := func() error { // from when the agent is called until it has ended
		if h.Runs.Load() > 0 && !awake.Load() {
			return errDown
		}
		return nil
	}
	h.Instances[0].Store.Read = frozen
	h.Instances[0].Store.Before = func(_ int64, r task.Record) error {
		if r.Task.Status.State.Terminal() {
			awake.Store(true)
		}
		return frozen()
	}
	first := async(h, func() bool { h.Deliver(t.Context(), 0); return true })
	rest(2*Lease + soon)
	if err := h.Instances[1].Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	watched := h.follow(t, 2, new(int64(0)))
	second := async(h, func() bool { h.Deliver(t.Context(), 1); return true })
	<-first
	const want = "task completed (late) a=x b=y"
	wantText(t, "Get() when the first has ended", h.get(t, 2), want)
	<-second
	wantText(t, "Get() when the second has ended", h.get(t, 2), want)
	wantText(t, "Follow()", <-watched, "1 working; 2 a=x; 3 a=x; 4 b=y; 5 completed (late)")
	wantText(t, "the second's context ended because", fmt.Sprint(h.Causes.Load()), "another instance took the task over")
	h.wantRuns(t, 2)
	h.wantSound(t, 1)
}

func foreign(t *testing.T, h *House) {
	t.Helper()
	alice, bob := task.Caller{ID: "alice"}, task.Caller{ID: "bob"}
	s := Message(First, "ask=where?")
	s.Caller, s.Hook = alice, &task.Hook{Config: sdk.PushConfig{ID: "h", URL: "https://example.com/"}}
	res, err := h.Instances[0].Send(t.Context(), s)
	wantText(t, "Send()", told(res, err), "task input_required (where?)")
	id, d := res.TaskInfo().TaskID, h.Instances[1].Desk
	for _, c := range []task.Caller{bob, anybody} {
		_, _, err := d.Get(t.Context(), c, id)
		errs := []error{err}
		_, err = d.Cancel(t.Context(), c, id)
		errs = append(errs, err)
		s := answer("5", "here")
		s.Caller, s.Message.TaskID = c, id
		_, err = d.Send(t.Context(), s)
		errs = append(errs, err)
		_, err = d.Submit(t.Context(), s)
		errs = append(errs, err)
		_, err = d.PutHook(t.Context(), c, task.Hook{Config: sdk.PushConfig{TaskID: id, URL: "https://example.com/"}})
		errs = append(errs, err)
		_, err = d.Hook(t.Context(), c, id, "h")
		errs = append(errs, err)
		_, err = d.Hooks(t.Context(), c, id)
		errs = append(errs, err, d.DropHook(t.Context(), c, id, "h"))
		for _, stream := range []func(func(task.Frame, error) bool){d.Follow(t.Context(), c, id, nil), d.Stream(t.Context(), s)} {
			for _, err := range stream {
				errs = append(errs, err)
			}
		}
		for i, err := range errs {
			if fault.KindOf(err) != fault.NotFound || fault.Public(err) != "no such task" {
				t.Errorf("call %d by %q = %v, want no such task", i, c.ID, err)
			}
		}
		page, err := d.List(t.Context(), c, task.Query{})
		if err != nil || page.Total != 0 {
			t.Errorf("List(%q) = %+v, %v, want nothing", c.ID, page, err)
		}
		s = Message(First, "say=mine")
		s.Caller = c
		res, err := d.Send(t.Context(), s)
		wantText(t, "Send(the same id by another)", told(res, err), "message mine")
	}
	if page, err := d.List(t.Context(), alice, task.Query{}); err != nil || page.Total != 1 {
		t.Errorf("List(alice) = %+v, %v, want one task", page, err)
	}
}

func tells(t *testing.T, h *House) {
	t.Helper()
	refusals := 0
	h.Refuse = func(hook task.Hook, e task.Entry) error {
		if hook.Config.ID == "deaf" {
			return fault.New(fault.Unavailable, "deaf")
		}
		if e.Seq == 2 && hook.Config.ID == "slow" && refusals < 3 {
			refusals++
			return fault.New(fault.Unavailable, "busy")
		}
		return nil
	}
	s := Message(First, "WORKING sleep=900ms make=x ask=where?")
	s.Hook = &task.Hook{Config: sdk.PushConfig{
		ID: "slow", URL: "https://example.com/", Auth: &sdk.PushAuthInfo{Scheme: "Bearer", Credentials: "c"},
	}}
	first := h.send(t, 0, s)
	h.until(t, "task working")
	hook := task.Hook{Config: sdk.PushConfig{TaskID: FirstTask(), ID: "among", URL: "https://example.com/"}, Early: true}
	if _, err := h.Instances[2].PutHook(t.Context(), anybody, hook); err != nil { // the worker knows nothing of it
		t.Fatal(err)
	}
	wantText(t, "Send()", <-first, "task input_required (where?) a=x")
	for _, id := range []string{"deaf", "late"} {
		if _, err := h.Instances[1].PutHook(t.Context(), anybody, task.Hook{Config: sdk.PushConfig{TaskID: FirstTask(), ID: id, URL: "https://example.com/"}}); err != nil {
			t.Fatal(err)
		}
	}
	wantText(t, "Send(answer)", <-h.send(t, 2, answer(Second, "ask=thanks")), "task completed (thanks) a=x")
	ref := task.Ref{Agent: Name, ID: FirstTask()}
	calls := 1
	for ; calls < 100; calls++ {
		err := h.Instances[calls%3].Tell(t.Context(), ref)
		if err == nil {
			break
		}
		wantKind(t, "Tell()", err, fault.Unavailable)
	}
	if calls != 2*5-1 { // the deaf one was to be told two events; with the end of the first the second begins
		t.Errorf("Tell() was done after %d calls, want %d", calls, 2*5-1)
	}
	got := map[string]string{}
	for _, p := range h.Posts() {
		id, words, _ := strings.Cut(p, " ")
		got[id] += words + "; "
	}
	wantText(t, "told the first", got["slow"], "1 working; 2 a=x; 3 input_required (where?); 4 working; 5 completed (thanks); ")
	wantText(t, "told the last", got["late"], "4 working; 5 completed (thanks); ")
	wantText(t, "told the one that wants the task as it is", got["among"], "5 completed (thanks); ")
	wantText(t, "told the deaf", got["deaf"], "")
	if err := h.Instances[0].Tell(t.Context(), ref); err != nil || len(h.Posts()) != 8 {
		t.Errorf("Tell(again) = %v, told %d events in all, want no error and 8", err, len(h.Posts()))
	}
}
