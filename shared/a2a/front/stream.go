package front

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime/debug"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// stall is how long a caller may take for a frame.
const stall = 30 * time.Second

// stream answers a call with server-sent events. An error before the first frame
// is returned, to be a plain answer; nil means that an answer was written.
//
// When the caller has left, or too much was sent, or the time is over, ctx ends
// and nothing is written any more: the desk yields no more events, and returns
// when the work that this request does is done. No end is invented: callers find
// none, and listen again.
func (f *front) stream(ctx context.Context, w http.ResponseWriter, in request, c codec, asked call) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &stream{
		w: w, control: http.NewResponseController(w), pulse: f.opt.Pulse, left: f.opt.MaxSent, hangUp: cancel,
		frame: func(fr task.Frame) (event, bool) {
			if t, ok := fr.Event.(*sdk.Task); ok {
				fr.Event = shortened(t, asked.history)
			}
			return c.frame(in, asked, fr)
		},
	}
	frames := f.desk.Stream(ctx, asked.send)
	if asked.op == followTask {
		var err error
		if frames, err = f.follow(ctx, asked); err != nil {
			return err
		}
		s.open()
		if asked.hello != "" {
			s.write([]byte(": " + asked.hello + "\n\n"))
		}
	}
	err := s.run(ctx, frames)
	if err == nil || !s.opened {
		return err
	}
	if ctx.Err() == nil { // else the error is that nobody listens any more
		f.excuse(ctx, http.Header{}, in, err)
		last := event{data: c.encode(in, asked, answer{err: err}).body}
		if b, ok := c.(breaker); ok {
			last = b.broken(asked, err)
		}
		s.send(last)
	}
	s.close()
	return nil
}

// stream is an answer of server-sent events under way.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	frame   func(task.Frame) (event, bool)
	pulse   time.Duration
	left    int    // bytes that may still be sent
	hangUp  func() // ends the context of the events
	opened  bool
	begun   bool // a frame was sent
	closed  bool
}

// run writes events as they come, to their end or the first error. It returns
// when whoever yields them has returned.
func (s *stream) run(ctx context.Context, frames iter.Seq2[task.Frame, error]) error {
	tick := time.NewTicker(s.pulse)
	defer tick.Stop()
	pairs := pump(frames)
	var failed error
	for {
		select {
		case p, ok := <-pairs:
			switch {
			case !ok:
				if failed == nil && !s.opened {
					failed = ctx.Err()
				}
				s.close()
				return failed
			case p.err != nil && failed == nil:
				failed = p.err
			case failed == nil && ctx.Err() == nil:
				if e, ok := s.frame(p.frame); ok {
					s.send(e)
				}
			}
		case <-tick.C:
			if failed == nil && ctx.Err() == nil {
				s.write([]byte(": still here\n\n"))
			}
		}
	}
}

// pair is what an iterator of events yields.
type pair struct {
	frame task.Frame
	err   error
}

// pump runs an iterator beside its reader, who has to read to the end. A panic
// in it becomes its last error.
func pump(frames iter.Seq2[task.Frame, error]) <-chan pair {
	pairs := make(chan pair)
	go func() {
		defer close(pairs)
		defer func() {
			if v := recover(); v != nil {
				pairs <- pair{err: fault.Wrap(fault.Internal, fmt.Errorf("%v\n%s", v, debug.Stack()), "panic in a stream")}
			}
		}()
		for frame, err := range frames {
			pairs <- pair{frame, err}
		}
	}()
	return pairs
}

// open sends the headers.
func (s *stream) open() {
	if s.opened {
		return
	}
	s.opened = true
	header := s.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	if err := s.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		s.hangUp()
	}
}

// send writes an event as one frame. The first is sent however large it is: it
// would not be smaller for a caller who listens again.
func (s *stream) send(e event) {
	var b bytes.Buffer
	if e.name != "" {
		fmt.Fprintf(&b, "event: %s\n", e.name)
	}
	if e.id != "" {
		fmt.Fprintf(&b, "id: %s\n", e.id)
	}
	fmt.Fprintf(&b, "data: %s\n\n", e.data)
	if s.begun && b.Len() > s.left {
		s.hangUp()
		return
	}
	s.begun = true
	s.write(b.Bytes())
}

// write sends bytes at once, or gives the caller up.
func (s *stream) write(b []byte) {
	s.open()
	//nolint:forbidigo // of a socket, which knows no other clock
	_ = s.control.SetWriteDeadline(time.Now().Add(stall)) // a writer that cannot has no socket
	s.left -= len(b)
	if _, err := s.w.Write(b); err != nil {
		s.hangUp()
		return
	}
	if err := s.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		s.hangUp()
	}
}

// close leaves the connection as it was, for the next request.
func (s *stream) close() {
	if s.opened && !s.closed {
		s.closed = true
		_ = s.control.SetWriteDeadline(time.Time{}) // as in write
	}
}
