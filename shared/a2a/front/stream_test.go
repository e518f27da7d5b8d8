package front

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
)

const streamID = "0e9a3a52-6f0c-4c51-8b43-6a5c8a5e8d20"

// bubble is the clock of a test in a bubble.
func bubble() time.Time { return time.Now() } //nolint:forbidigo // synctest moves it

// streamCall is a stream of a message with that text.
func streamCall(ctx context.Context, text string) *http.Request {
	body := `{"message":{"messageId":"` + streamID + `","role":"ROLE_USER","parts":[{"text":"` + text + `"}]}}`
	return httptest.NewRequestWithContext(ctx, http.MethodPost, "/message:stream", strings.NewReader(body))
}

// gated is an agent that says it works, and completes when the gate opens.
func gated(gate <-chan struct{}) task.Agent {
	a := scripted()
	a.Run = func(ctx context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
		return func(yield func(sdk.Event, error) bool) {
			status := func(state sdk.TaskState) bool {
				return yield(&sdk.TaskStatusUpdateEvent{TaskID: turn.TaskID, ContextID: turn.ContextID, Status: sdk.TaskStatus{State: state}}, nil)
			}
			if !status(sdk.TaskStateWorking) {
				return
			}
			select {
			case <-gate:
				status(sdk.TaskStateCompleted)
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
			}
		}
	}
	return a
}

// framesOf returns the data of a stream, and how many signs of life were between them.
func framesOf(t *testing.T, body []byte) (data []string, beats int) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(string(body), "\n\n"), "\n\n") {
		switch lines := strings.Split(block, "\n"); {
		case block == "":
		case strings.HasPrefix(block, ":"):
			beats++
		case len(lines) == 2 && strings.HasPrefix(lines[0], "id: ") && strings.HasPrefix(lines[1], "data: "):
			data = append(data, lines[1])
		case len(lines) == 1 && strings.HasPrefix(block, "data: "):
			data = append(data, block)
		default:
			t.Errorf("block %q, want a frame or a comment", block)
		}
	}
	return data, beats
}

const ended = "TASK_STATE_COMPLETED"

// finished reports whether the task of the stream has completed.
func finished(t *testing.T, desk *task.Desk) bool {
	t.Helper()
	id, _ := task.ID("location", task.Caller{}, streamID)
	got, _, err := desk.Get(context.WithoutCancel(t.Context()), task.Caller{}, id)
	if err != nil {
		t.Fatal(err)
	}
	return got.Status.State == sdk.TaskStateCompleted
}

// A caller hears from a silent agent every 15 seconds.
func TestStreamPulse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		time.AfterFunc(40*time.Second, func() { close(gate) })
		h, _ := newFrontOver(t, gated(gate), Options{}, tasktest.NewMemory(bubble), bubble)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, streamCall(t.Context(), "x"))
		data, beats := framesOf(t, w.Body.Bytes())
		if beats != 2 || len(data) != 3 || !strings.Contains(data[2], ended) {
			t.Errorf("%d comments, frames %q, want 2, and the task, working, completed", beats, data)
		}
		if !w.Flushed || w.Header().Get("Cache-Control") != "no-cache" || w.Header().Get("X-Accel-Buffering") != "no" {
			t.Errorf("flushed %t, headers %v, want a stream that nobody holds back", w.Flushed, w.Header())
		}
	})
}

// A stream that must close has no end in it, the work goes on, and whoever
// listens again from the last number on misses nothing.
func TestStreamClosesEarly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		opt  Options
		ctx  func(ctx context.Context) (context.Context, context.CancelFunc)
		data int
	}{
		{"deadline", Options{}, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute) // 10 s less to answer
		}, 2},
		{"caller gone", Options{}, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(20*time.Second, cancel)
			return ctx, cancel
		}, 2},
		{"too much sent", Options{MaxSent: 700, Pulse: time.Hour}, context.WithCancel, 2},
		{"one frame is too much", Options{MaxSent: 10, Pulse: time.Hour}, context.WithCancel, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				time.AfterFunc(55*time.Second, func() { close(gate) })
				h, desk := newFrontOver(t, gated(gate), tt.opt, tasktest.NewMemory(bubble), bubble)
				ctx, cancel := tt.ctx(t.Context())
				defer cancel()
				w := httptest.NewRecorder()
				h.ServeHTTP(w, streamCall(ctx, "x"))
				data, _ := framesOf(t, w.Body.Bytes())
				if len(data) != tt.data || strings.Contains(w.Body.String(), ended) || strings.Contains(w.Body.String(), `"error"`) {
					t.Errorf("frames %q, want %d and no end", data, tt.data)
				}
				if !finished(t, desk) {
					t.Error("the work was not done")
				}
			})
		})
	}
}

// Two listeners hear the same; one that comes back hears what it missed.
func TestStreamResumes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		h, _ := newFrontOver(t, gated(gate), Options{}, tasktest.NewMemory(bubble), bubble)
		id, _ := task.ID("location", task.Caller{}, streamID)
		sender := httptest.NewRecorder()
		var all sync.WaitGroup
		all.Go(func() { h.ServeHTTP(sender, streamCall(t.Context(), "x")) })
		time.Sleep(5 * time.Second) //nolint:forbidigo // of the bubble: the task is at work then
		var listeners []*httptest.ResponseRecorder
		for _, last := range []string{"", "0", "1", "nonsense", "-1", "99"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/tasks/"+string(id)+":subscribe", nil)
			r.Header.Set("Last-Event-ID", last)
			w := httptest.NewRecorder()
			listeners = append(listeners, w)
			all.Go(func() { h.ServeHTTP(w, r) })
		}
		synctest.Wait()
		close(gate)
		all.Wait()
		sent, _ := framesOf(t, sender.Body.Bytes())
		if len(sent) != 3 {
			t.Fatalf("the sender got %q, want 3 frames", sent)
		}
		for i, want := range []int{2, 2, 1, 2, 2, 2} { // without a number that counts, the task as it is stands for what came before
			got, _ := framesOf(t, listeners[i].Body.Bytes())
			if len(got) != want || got[len(got)-1] != sent[2] {
				t.Errorf("listener %d got %q, want %d frames, the last as the sender's", i, got, want)
			}
		}
	})
}

// failing is a store whose log breaks.
type failing struct {
	tasktest.StoreFinder
	broken atomic.Bool
}

func (f *failing) Get(ctx context.Context, agent string, id sdk.TaskID) (task.Record, error) {
	if f.broken.Load() {
		return task.Record{}, fault.Wrap(fault.Unavailable, errors.New("dial 10.0.0.7"), "the store is away")
	}
	return f.StoreFinder.Get(ctx, agent, id)
}

// An error in the middle of a stream is its last frame; one before the first is
// a plain answer.
func TestStreamErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		store := &failing{StoreFinder: tasktest.NewMemory(bubble)}
		h, _ := newFrontOver(t, gated(gate), Options{}, store, bubble)
		id, _ := task.ID("location", task.Caller{}, streamID)
		ctx, cancel := context.WithCancel(t.Context())
		go h.ServeHTTP(httptest.NewRecorder(), streamCall(ctx, "x"))
		time.Sleep(5 * time.Second) //nolint:forbidigo // of the bubble: the task is at work then
		subscribe := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/tasks/"+string(id)+":subscribe", nil)
		time.AfterFunc(time.Second, func() { store.broken.Store(true) })
		w := httptest.NewRecorder()
		h.ServeHTTP(w, subscribe)
		data, _ := framesOf(t, w.Body.Bytes())
		if w.Code != http.StatusOK || len(data) != 2 || !strings.Contains(data[1], `"reason":"SERVER_ERROR"`) || strings.Contains(w.Body.String(), "10.0.0.7") {
			t.Errorf("HTTP %d, frames %q, want the task and an error fit for strangers", w.Code, data)
		}
		w = httptest.NewRecorder()
		h.ServeHTTP(w, subscribe)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Retry-After") == "" {
			t.Errorf("HTTP %d, %v, %s, want a plain 503", w.Code, w.Header(), w.Body)
		}
		store.broken.Store(false)
		close(gate)
		cancel()
		synctest.Wait()
	})
}

// A panic beside the reader is an error, not the end of the process.
func TestPumpPanics(t *testing.T) {
	t.Parallel()
	var got []pair
	for p := range pump(func(yield func(task.Frame, error) bool) {
		yield(task.Frame{Seq: 1}, nil)
		panic("secret of the house")
	}) {
		got = append(got, p)
	}
	if len(got) != 2 || got[0].frame.Seq != 1 || fault.KindOf(got[1].err) != fault.Internal || strings.Contains(fault.Public(got[1].err), "secret") {
		t.Errorf("pump() = %v, want a frame and an internal error that says nothing", got)
	}
}

// stuck is a caller who takes nothing any more.
type stuck struct{ *httptest.ResponseRecorder }

func (stuck) Write([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestStreamToNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		time.AfterFunc(40*time.Second, func() { close(gate) })
		h, desk := newFrontOver(t, gated(gate), Options{}, tasktest.NewMemory(bubble), bubble)
		h.ServeHTTP(stuck{httptest.NewRecorder()}, streamCall(t.Context(), "x"))
		if !finished(t, desk) {
			t.Error("the work was not done")
		}
	})
}

// readFrame reads one block of a stream.
func readFrame(r *bufio.Reader) (string, error) {
	var b bytes.Buffer
	for {
		line, err := r.ReadString('\n')
		if err != nil || line == "\n" {
			return b.String(), err
		}
		b.WriteString(line)
	}
}

// What does not fit any more is left for the next stream; what no stream has
// room for goes out first.
func TestStreamRoom(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	hungUp := 0
	s := &stream{w: w, control: http.NewResponseController(w), left: 30, hangUp: func() { hungUp++ }}
	s.open()
	s.send(event{data: bytes.Repeat([]byte("1"), 40)})
	s.send(event{id: "2", data: []byte("2")})
	if got, want := w.Body.String(), "data: "+strings.Repeat("1", 40)+"\n\n"; got != want || hungUp != 1 {
		t.Errorf("sent %q and hung up %d times, want %q and once", got, hungUp, want)
	}
}

// An answer gets 10 seconds of a request's time, or half of it.
func TestInTime(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]time.Duration{time.Minute: 50 * time.Second, 20 * time.Second: 10 * time.Second, 8 * time.Second: 4 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), given)
			defer cancel()
			got, stop := inTime(ctx)
			defer stop()
			if at, ok := got.Deadline(); !ok || time.Until(at) != want {
				t.Errorf("inTime(%s) ends in %s, want %s", given, time.Until(at), want)
			}
		})
	}
}
