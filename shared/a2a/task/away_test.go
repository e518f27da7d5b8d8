package task_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
)

// What a store says of itself is for the log: callers learn that it is away, or
// nothing.
func TestStoresThatTellTooMuch(t *testing.T) {
	t.Parallel()
	for _, kind := range fault.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { tellsTooMuch(t, kind) })
		})
	}
}

func tellsTooMuch(t *testing.T, kind fault.Kind) {
	t.Helper()
	opt := live()
	opt.Push = true
	sick := fault.New(kind, "parts of projects/secret/databases/d")
	f := &tasktest.Flaky{StoreFinder: tasktest.NewMemory(opt.Now)}
	opt.Store = func() (task.Store, error) { return f, nil }
	opt.Finder = func() (task.Finder, error) { return nil, sick }
	d, nobody := desk(opt), task.Caller{}
	res, err := d.Send(t.Context(), message(firstID, "ask=where?"))
	if err != nil {
		t.Fatal(err)
	}
	id := res.TaskInfo().TaskID
	wrong := func(call string, err error) {
		t.Helper()
		got := fault.KindOf(err)
		if kind == fault.NotFound && got == fault.NotFound || kind == fault.Conflict && got == fault.Unavailable {
			got = fault.Internal // it was somebody else: the right answer, too
		}
		want := fault.Internal
		if kind.Transient() || kind == fault.Canceled {
			want = fault.Unavailable
		}
		if got != want || strings.Contains(fault.Public(err), "secret") {
			t.Errorf("%s with a store that says %s = %s: %s, want kind %s", call, kind, got, fault.Public(err), want)
		}
	}
	again := message("2", "COMPLETED")
	again.Message.TaskID = id
	_, err = d.List(t.Context(), nobody, task.Query{})
	wrong("List()", err)

	f.Before = func(int64, task.Record) error { return sick }
	_, err = d.Send(t.Context(), message("3", "COMPLETED"))
	if kind != fault.Conflict { // which a new task takes for its own
		wrong("Send()", err)
	}
	_, err = d.Send(t.Context(), again)
	wrong("Send(again)", err)
	_, err = d.Cancel(t.Context(), nobody, id)
	wrong("Cancel()", err)
	_, err = d.PutHook(t.Context(), nobody, hookTo(id, "", "https://example.com/"))
	wrong("PutHook()", err)

	f.Before, f.Read = nil, func() error { return sick }
	_, _, err = d.Get(t.Context(), nobody, id)
	wrong("Get()", err)
	_, err = d.Hooks(t.Context(), nobody, id)
	wrong("Hooks()", err)
	reads := 0
	f.Read = func() error {
		if reads++; reads > 1 {
			return sick
		}
		return nil
	}
	for _, err = range d.Follow(t.Context(), nobody, id, nil) {
	}
	wrong("Follow()", err)

	opt.Store = func() (task.Store, error) { return nil, sick }
	_, _, err = desk(opt).Get(t.Context(), nobody, id)
	wrong("Get() without a store", err)
}
