package task_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
)

// slow returns options whose store reads nothing until the returned function is
// called, and the same store without that.
func slow() (behind, before task.Options, read func()) {
	before, behind = live(), live()
	m := tasktest.NewMemory(before.Now)
	ready := make(chan struct{})
	f := &tasktest.Flaky{StoreFinder: m, Read: func() error { <-ready; return nil }}
	before.Store = func() (task.Store, error) { return m, nil }
	behind.Store = func() (task.Store, error) { return f, nil }
	return behind, before, sync.OnceFunc(func() { close(ready) })
}

// A stream is of one turn: however late its listener looks, the answer to the
// question that ended the turn is no part of it.
func TestStreamEndsWithItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		behind, before, read := slow()
		got := make(chan string)
		go func() { got <- tasktest.Lines(desk(behind).Stream(t.Context(), message(firstID, "ask=where?"))) }()
		synctest.Wait()
		id, _ := task.ID("actor", task.Caller{}, firstID)
		answer := message("2", "ask=thanks")
		answer.Message.TaskID = id
		if _, err := desk(before).Send(t.Context(), answer); err != nil {
			t.Fatal(err)
		}
		read()
		if s := <-got; s != "0 task working; 1 input_required (where?)" {
			t.Errorf("Stream() = %s, want it to end with its turn", s)
		}
		all := tasktest.Lines(desk(before).Follow(t.Context(), task.Caller{}, id, new(int64(0))))
		if all != "1 input_required (where?); 2 working; 3 completed (thanks)" {
			t.Errorf("Follow(0) = %s, want both turns", all)
		}
	})
}

// Whose task was canceled just before the agent said its message gets the task.
func TestCanceledBeforeItsMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opt, elsewhere := live(), live()
		elsewhere.Store = opt.Store
		got := make(chan string)
		go func() {
			got <- tasktest.Lines(desk(opt).Stream(t.Context(), message(firstID, "sleep=100ms say=hello")))
		}()
		<-time.After(50 * time.Millisecond)
		id, _ := task.ID("actor", task.Caller{}, firstID)
		if _, err := desk(elsewhere).Cancel(t.Context(), task.Caller{}, id); err != nil {
			t.Fatal(err)
		}
		if s := <-got; s != "1 task canceled (the task was canceled)" {
			t.Errorf("Stream() = %s, want the canceled task", s)
		}
	})
}
