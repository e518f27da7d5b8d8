package tasktest

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// Cases are what TestInstances runs, for tests that have their own time.
func Cases() []Case {
	return []Case{
		{"start here, watch there, cancel from a third", cancels},
		{"a message in many places at once runs once", runsOnce},
		{"a delivery that repeats runs once", deliversOnce},
		{"a queued task is finished when its worker dies", requeues},
		{"three workers that die are enough", givesUp},
		{"a message that nobody keeps is to be sent again", fails},
		{"two listeners see the same, and so does a late one", listenersAlike},
		{"a stream is resumed behind every event", resumes},
		{"a message is an answer without a task", replies},
		{"a question is asked here and answered there", asks},
		{"a canceled question takes no answer", cancelsQuestion},
		{"a cancellation at the last moment stands", cancelsJustBefore},
		{"what has ended is not canceled", cancelsLate},
		{"a result that is late counts while nobody has a better one", latecomer},
		{"a task is its owner's alone", foreign},
		{"hooks are told in order, and again until they take it", tells},
	}
}

// The messages of a case.
const (
	First  = "7d9f5b1e-0f64-4c2a-9a53-1f0a5e8f2b11"
	Second = "7d9f5b1e-0f64-4c2a-9a53-1f0a5e8f2b12"
)

var anybody task.Caller

// FirstTask is the task of the message First.
func FirstTask() sdk.TaskID {
	id, _ := task.ID(Name, anybody, First)
	return id
}

// send sends a message from an instance in the background.
func (h *House) send(t *testing.T, i int, s task.Send) <-chan string {
	t.Helper()
	return async(h, func() string { return told(h.Instances[i].Send(t.Context(), s)) })
}

// told tells an answer in a few words.
func told(res sdk.SendMessageResult, err error) string {
	if err != nil {
		return "error " + fault.Public(err)
	}
	_, words, _ := strings.Cut(Line(task.Frame{Event: res}), " ")
	return words
}

func (h *House) follow(t *testing.T, i int, after *int64) <-chan string {
	t.Helper()
	return async(h, func() string { return Lines(h.Instances[i].Follow(t.Context(), anybody, FirstTask(), after)) })
}

// get tells the task of First as an instance sees it.
func (h *House) get(t *testing.T, i int) string {
	t.Helper()
	got, _, err := h.Instances[i].Get(t.Context(), anybody, FirstTask())
	return told(got, err)
}

// until waits until the second instance tells the task of First so.
func (h *House) until(t *testing.T, want string) {
	t.Helper()
	got := ""
	for range 100 {
		if got = h.get(t, 1); got == want {
			return
		}
		rest(soon)
	}
	t.Fatalf("Get() stays %s, want %s", got, want)
}

func wantText(t *testing.T, call, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %s, want %s", call, got, want)
	}
}

func (h *House) wantRuns(t *testing.T, want int64) {
	t.Helper()
	if n := h.Runs.Load(); n != want {
		t.Errorf("the agent ran %d times, want %d", n, want)
	}
}

func (h *House) wantSound(t *testing.T, ends int) {
	t.Helper()
	if err := h.Check(t.Context(), len(h.Instances)-1, FirstTask(), ends); err != nil {
		t.Errorf("the task of the first message: %v", err)
	}
}

func cancels(t *testing.T, h *House) {
	t.Helper()
	stream := async(h, func() string {
		return Lines(h.Instances[0].Stream(t.Context(), Message(First, "WORKING make=x hang=1 COMPLETED")))
	})
	h.until(t, "task working a=x")
	watched := h.follow(t, 1, new(int64(0)))
	got, err := h.Instances[2].Cancel(t.Context(), anybody, FirstTask())
	wantText(t, "Cancel()", told(got, err), "task canceled (the task was canceled) a=x")
	const events = "1 working; 2 a=x; 3 canceled (the task was canceled)"
	wantText(t, "Stream()", <-stream, "0 task working; "+events)
	wantText(t, "Follow()", <-watched, events)
	wantText(t, "the agent's context ended because", fmt.Sprint(h.Causes.Load()), "the task was canceled")
	for i := range h.Instances {
		got, err := h.Instances[i].Cancel(t.Context(), anybody, FirstTask())
		wantText(t, "Cancel(canceled)", told(got, err), "task canceled (the task was canceled) a=x")
	}
	wantText(t, "Send(canceled)", <-h.send(t, 1, Message(First, "WORKING make=x hang=1 COMPLETED")), "task canceled (the task was canceled) a=x")
	h.wantRuns(t, 1)
	h.wantSound(t, 1)
}

func runsOnce(t *testing.T, h *House) {
	t.Helper()
	const script, want = "WORKING sleep=200ms make=x COMPLETED", "task completed a=x"
	var all []<-chan string
	for range 3 {
		for i := range h.Instances {
			all = append(all, h.send(t, i, Message(First, script)))
		}
	}
	for _, got := range all {
		wantText(t, "Send()", <-got, want)
	}
	s := Message(strings.ToUpper(First), script) // the same UUID
	res, err := h.Instances[1].Call(t.Context(), s)
	wantText(t, "Call(repeated)", told(res, err), want)
	sub, err := h.Instances[2].Submit(t.Context(), Message(First, script))
	wantText(t, "Submit(repeated)", told(sub, err), want)
	stream := Lines(h.Instances[2].Stream(t.Context(), Message(First, script)))
	wantText(t, "Stream(repeated)", stream, "3 task completed a=x")
	_, err = h.Instances[0].Send(t.Context(), Message(First, "COMPLETED"))
	wantKind(t, "Send(the same id, another message)", err, fault.Invalid)
	h.wantRuns(t, 1)
	h.wantSound(t, 1)
}

func deliversOnce(t *testing.T, h *House) {
	t.Helper()
	got, err := h.Instances[0].Submit(t.Context(), Message(First, "WORKING sleep=200ms make=x sleep=200ms COMPLETED"))
	wantText(t, "Submit()", told(got, err), "task submitted")
	j, ok := h.Next()
	if !ok {
		t.Fatal("the queue is empty, want a job")
	}
	var all []<-chan error
	for range 3 {
		for _, in := range h.Instances {
			all = append(all, async(h, func() error { return in.Do(t.Context(), j) }))
		}
	}
	for _, err := range all {
		if err := <-err; err != nil {
			t.Errorf("Work(repeated) = %v, want no error", err)
		}
	}
	wantText(t, "Get()", h.get(t, 1), "task completed a=x")
	if err := h.Instances[1].Do(t.Context(), j); err != nil {
		t.Errorf("Work(ended) = %v, want no error", err)
	}
	j.ID = "unheard"
	if err := h.Instances[1].Do(t.Context(), j); err != nil {
		t.Errorf("Work(gone) = %v, want no error", err)
	}
	h.wantRuns(t, 1)
	h.wantSound(t, 1)
}

func listenersAlike(t *testing.T, h *House) {
	t.Helper()
	const script = "progress=10 make=x sleep=100ms more=y progress=40 sleep=300ms more=z progress=30 sleep=100ms COMPLETED=done"
	const events = "1 working 10%; 2 a=x; 3 a+=y; 4 working 40%; 5 a+=z; 6 working 40%; 7 completed (done)"
	stream := async(h, func() string { return Lines(h.Instances[0].Stream(t.Context(), Message(First, script))) })
	h.until(t, "task working a=x")
	var all []<-chan string
	for range 2 {
		for i := range h.Instances {
			all = append(all, h.follow(t, i, new(int64(0))))
		}
		rest(2 * soon)
	}
	wantText(t, "Stream()", <-stream, "0 task working; "+events)
	for _, got := range append(all, h.follow(t, 2, new(int64(0)))) {
		wantText(t, "Follow(0)", <-got, events)
	}
	wantText(t, "Follow() of what has ended", <-h.follow(t, 2, nil), "7 task completed (done) a=xyz")
	h.wantRuns(t, 1)
	h.wantSound(t, 1)
}

func resumes(t *testing.T, h *House) {
	t.Helper()
	const script = "progress=10 make=1 sleep=300ms more=2 sleep=70ms more=3 progress=50 sleep=70ms make.b=4 sleep=70ms COMPLETED"
	events := strings.Split("1 working 10%; 2 a=1; 3 a+=2; 4 a+=3; 5 working 50%; 6 b=4; 7 completed", "; ")
	done := h.send(t, 0, Message(First, script))
	h.until(t, "task working a=1")
	check := func(when string, last int, snapshot string) {
		var all []<-chan string
		for cut := range int64(len(events)) {
			all = append(all, h.follow(t, int(cut)%3, &cut))
		}
		for cut, got := range all {
			want := events[min(cut, last):]
			if cut > last { // ahead of the log: the task comes first
				want = append([]string{snapshot}, want...)
			}
			wantText(t, fmt.Sprintf("Follow(%d) %s", cut, when), <-got, strings.Join(want, "; "))
		}
	}
	check("at work", 2, "2 task working a=1")
	wantText(t, "Send()", <-done, "task completed a=123 b=4")
	check("at the end", 7, "")
	wantText(t, "Follow(the last)", <-h.follow(t, 1, new(int64(7))), "")
	wantText(t, "Follow(8)", <-h.follow(t, 1, new(int64(8))), "7 task completed a=123 b=4")
	wantText(t, "Follow(-1)", <-h.follow(t, 1, new(int64(-1))), "7 task completed a=123 b=4")
}
