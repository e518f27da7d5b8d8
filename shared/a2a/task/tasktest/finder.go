package tasktest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// TestFinder holds an implementation to the contract of task.Finder. open
// returns an empty store; it is called once for each case, and cases run in
// parallel.
func TestFinder(t *testing.T, open func(t *testing.T) StoreFinder) {
	t.Helper()
	cases := []struct {
		name string
		run  func(t *testing.T, s StoreFinder)
	}{
		{"nothing", findsNothing},
		{"newest first, and one instant by id", ordered},
		{"pages of any size, in any part of one instant", paged},
		{"only what a query asks for", selected},
		{"what is answered by a message is no task", noReplies},
		{"a token that is none", badToken},
		{"due, oldest first", due},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// put stores a record of an agent and an owner whose status is so many seconds
// old at the instant.
func put(t *testing.T, s StoreFinder, id sdk.TaskID, age int, edit ...func(r *task.Record)) {
	t.Helper()
	r := record()
	r.ID, r.Task.ID, r.Owner = id, id, "alice"
	r.Task.Status.Timestamp = new(instant.Add(-time.Duration(age) * time.Second))
	for _, e := range edit {
		e(&r)
	}
	create(t, s, r)
}

func list(t *testing.T, s StoreFinder, q task.Query) (ids []sdk.TaskID, page task.Page) {
	t.Helper()
	if q.Agent == "" {
		q.Agent, q.Owner = "location", "alice"
	}
	page, err := s.List(t.Context(), q)
	if err != nil {
		t.Fatalf("List(%+v) = %v, want a page", q, err)
	}
	for _, r := range page.Records {
		ids = append(ids, r.ID)
	}
	return ids, page
}

func wantIDs(t *testing.T, call string, got []sdk.TaskID, want ...sdk.TaskID) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %s, want %s", call, got, want)
	}
}

func findsNothing(t *testing.T, s StoreFinder) {
	t.Helper()
	ids, page := list(t, s, task.Query{Size: 10})
	if len(ids) > 0 || page.Total != 0 || page.Next != "" {
		t.Errorf("List() = %+v, want an empty page", page)
	}
	if refs, err := s.Due(t.Context(), instant, 10); err != nil || len(refs) > 0 {
		t.Errorf("Due() = %v, %v, want nothing", refs, err)
	}
}

func ordered(t *testing.T, s StoreFinder) {
	t.Helper()
	for i, id := range []sdk.TaskID{"e", "c", "a", "d", "b"} {
		put(t, s, id, i/2*60)
	}
	ids, page := list(t, s, task.Query{Size: 10})
	wantIDs(t, "List()", ids, "c", "e", "a", "d", "b")
	if page.Total != 5 || page.Next != "" {
		t.Errorf("List() has total %d and next page %q, want 5 and none", page.Total, page.Next)
	}
	r, err := s.Get(t.Context(), "location", "a")
	if err != nil {
		t.Fatal(err)
	}
	wantRecord(t, "List()[2]", page.Records[2], r)
}

func paged(t *testing.T, s StoreFinder) {
	t.Helper()
	var want []sdk.TaskID
	for i := range 7 {
		id := sdk.TaskID(fmt.Sprint("task-", i))
		put(t, s, id, 0)
		want = append(want, id)
	}
	for size := 1; size <= 8; size++ {
		var got []sdk.TaskID
		q := task.Query{Size: size}
		for range len(want) {
			ids, page := list(t, s, q)
			if page.Total != len(want) || len(ids) > size {
				t.Errorf("List(size %d) has %d of %d tasks, want at most %d of %d", size, len(ids), page.Total, size, len(want))
			}
			got = append(got, ids...)
			if q.From = page.Next; q.From == "" {
				break
			}
		}
		wantIDs(t, fmt.Sprintf("all pages of %d", size), got, want...)
	}
}

func selected(t *testing.T, s StoreFinder) {
	t.Helper()
	put(t, s, "mine", 0)
	put(t, s, "another-owner", 0, func(r *task.Record) { r.Owner = "bob" })
	put(t, s, "nobody", 0, func(r *task.Record) { r.Owner = "" })
	put(t, s, "another-agent", 0, func(r *task.Record) { r.Agent = "scope" })
	put(t, s, "another-context", 10, func(r *task.Record) { r.Task.ContextID = "est-2" })
	put(t, s, "done", 20, func(r *task.Record) { r.Task.Status.State = sdk.TaskStateCompleted })
	tests := []struct {
		name string
		q    task.Query
		want []sdk.TaskID
	}{
		{"all", task.Query{}, []sdk.TaskID{"mine", "another-context", "done"}},
		{"a context", task.Query{ContextID: "est-2"}, []sdk.TaskID{"another-context"}},
		{"a state", task.Query{State: sdk.TaskStateCompleted}, []sdk.TaskID{"done"}},
		{"a time", task.Query{After: instant.Add(-15 * time.Second)}, []sdk.TaskID{"mine", "another-context"}},
		{"a context and a state", task.Query{ContextID: "est-2", State: sdk.TaskStateCompleted}, nil},
		{"all of it", task.Query{ContextID: "est-1", State: sdk.TaskStateWorking, After: instant.Add(-15 * time.Second)}, []sdk.TaskID{"mine"}},
		{"another owner", task.Query{Agent: "location", Owner: "bob"}, []sdk.TaskID{"another-owner"}},
		{"anybody", task.Query{Agent: "location"}, []sdk.TaskID{"nobody"}},
		{"another agent", task.Query{Agent: "scope", Owner: "alice"}, []sdk.TaskID{"another-agent"}},
		{"an unheard one", task.Query{Agent: "location", Owner: "eve"}, nil},
	}
	for _, tt := range tests {
		tt.q.Size = 10
		ids, page := list(t, s, tt.q)
		wantIDs(t, "List("+tt.name+")", ids, tt.want...)
		if page.Total != len(tt.want) {
			t.Errorf("List(%s) has total %d, want %d", tt.name, page.Total, len(tt.want))
		}
	}
}

func noReplies(t *testing.T, s StoreFinder) {
	t.Helper()
	put(t, s, "task", 0)
	put(t, s, "answered", 0)
	r, err := s.Get(t.Context(), "location", "answered")
	if err != nil {
		t.Fatal(err)
	}
	r = in(r, sdk.TaskStateCompleted)
	r.Seq, r.Reply = 1, &sdk.Message{ID: "m", Role: sdk.MessageRoleAgent, Parts: sdk.ContentParts{sdk.NewTextPart("hello")}}
	update(t, s, r, task.Entry{Seq: 1, Event: r.Reply})
	ids, page := list(t, s, task.Query{Size: 10})
	wantIDs(t, "List()", ids, "task")
	if page.Total != 1 {
		t.Errorf("List() has total %d, want 1", page.Total)
	}
}

func badToken(t *testing.T, s StoreFinder) {
	t.Helper()
	for _, token := range []string{"x", "e30", "bnVsbA", "%", "eyJpZCI6MX0"} {
		_, err := s.List(t.Context(), task.Query{Agent: "location", Owner: "alice", Size: 10, From: token})
		wantKind(t, fmt.Sprintf("List(from %q)", token), err, fault.Invalid)
	}
}

func due(t *testing.T, s StoreFinder) {
	t.Helper()
	wake := func(at time.Duration) func(r *task.Record) {
		return func(r *task.Record) { r.Wake = instant.Add(at) }
	}
	put(t, s, "later", 0, wake(time.Second))
	put(t, s, "now", 0, wake(0))
	put(t, s, "second", 0, wake(-time.Second))
	put(t, s, "never", 0)
	put(t, s, "first", 0, wake(-time.Minute), func(r *task.Record) { r.Agent, r.Owner = "scope", "bob" })
	tests := []struct {
		limit int
		want  []task.Ref
	}{
		{10, []task.Ref{{Agent: "scope", ID: "first"}, {Agent: "location", ID: "second"}}},
		{1, []task.Ref{{Agent: "scope", ID: "first"}}},
	}
	for _, tt := range tests {
		if got, err := s.Due(t.Context(), instant, tt.limit); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Due(limit %d) = %v, %v, want %v", tt.limit, got, err, tt.want)
		}
	}
	r, err := s.Get(t.Context(), "scope", "first")
	if err != nil {
		t.Fatal(err)
	}
	r.Wake = time.Time{}
	update(t, s, r)
	if got, err := s.Due(t.Context(), instant, 10); err != nil || !slices.Equal(got, tests[0].want[1:]) {
		t.Errorf("Due() after one was written without = %v, %v, want %v", got, err, tests[0].want[1:])
	}
}
