package fivestep

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/tmaxmax/go-sse"

	"truecost.dev/shared/fault"
)

// Listen gives every update of a task to each, in order, and returns the task as
// it ended. A stream that breaks is taken up again behind the last event it
// brought; after five breaks without anything new the status is looked at instead,
// every two seconds, until the task has ended. It returns fault.NotFound when the
// specialist no longer knows the task, and fault.Unavailable when it no longer
// answers at all.
func (s *Specialist) Listen(ctx context.Context, id string, each func(Task)) (Task, error) {
	l := listener{s: s, id: id, each: each, told: map[[sha256.Size]byte]bool{}}
	for broken := 1; ; broken++ {
		err := l.stream(ctx)
		switch kind := fault.KindOf(err); {
		case l.last.Ended():
			return l.last, nil
		case ctx.Err() != nil:
			return l.last, ended(ctx)
		case kind == fault.Unknown && s.logsIn() && !l.loggedIn:
			l.loggedIn = true
			if err := s.logIn(ctx); err != nil {
				return l.last, err
			}
		case err != nil && !kind.Transient():
			return l.last, err
		}
		if l.news {
			l.news, l.loggedIn, broken = false, false, 1
		}
		if broken >= tries {
			return l.poll(ctx)
		}
		if err := s.client.sleep(ctx, max(l.after, pause(broken))); err != nil {
			return l.last, ended(ctx)
		}
	}
}

// listener is who follows one task.
type listener struct {
	s    *Specialist
	id   string
	each func(Task)

	last     Task
	told     map[[sha256.Size]byte]bool // updates, by what they say
	event    string                     // id of the last event
	news     bool                       // the stream brought something since it last broke
	after    time.Duration
	loggedIn bool
}

// stream reads updates until the task has ended or the stream breaks. A break is
// no error where the specialist answered with a stream.
func (l *listener) stream(ctx context.Context) error {
	ctx, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	silence := time.AfterFunc(quietTime, func() { cut(errSilent) })
	defer silence.Stop()
	a := ask{method: http.MethodGet, address: of(l.s.updates, l.id), after: l.event}
	resp, err := l.s.send(ctx, a)
	l.after = 0
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || media != "text/event-stream" {
		l.after = retryAfter(resp.Header)
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // what can be had of it
		if resp.StatusCode < http.StatusMultipleChoices {
			return fault.New(fault.Invalid, "%s answers with %s, not with updates", a.address, media)
		}
		return refusal(a, resp.StatusCode, body)
	}
	body := &lively{body: resp.Body, read: func() { silence.Reset(quietTime) }}
	for e, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: maxFrame}) {
		if err != nil {
			return nil // broken: it is taken up again
		}
		if l.take(e) {
			return nil
		}
	}
	return nil
}

var errSilent = errors.New("the stream gave no sign of life")

// take takes an update in; it reports whether the task has ended. What counts is
// the status in the data, never the name of the event: of a frame without one
// there is nothing to say but that the stream has broken.
func (l *listener) take(e sse.Event) (ended bool) {
	var t Task
	if json.Unmarshal([]byte(e.Data), &t) != nil || t.ID != l.id || !t.known() {
		return false
	}
	if e.LastEventID != "" {
		l.event = e.LastEventID
	}
	l.tell(t)
	return t.Ended()
}

// tell tells an update that was not told before: some specialists begin from the
// start at every connection, and their progress would run backwards.
func (l *listener) tell(t Task) {
	text, err := json.Marshal(t)
	if key := sha256.Sum256(text); err == nil && !l.told[key] {
		l.told[key], l.last, l.news = true, t, true
		l.each(t)
	}
}

// poll looks at the status until the task has ended, or until one look after the
// other finds nobody.
func (l *listener) poll(ctx context.Context) (Task, error) {
	for blind := 0; ; {
		t, err := l.s.Status(ctx, l.id)
		switch kind := fault.KindOf(err); {
		case err == nil:
			blind = 0
			l.tell(t)
			if t.Ended() {
				return t, nil
			}
		case errors.Is(err, errNotOffered):
			return l.last, fault.Wrap(fault.Unavailable, err, "the updates of task %s break off, and there is no status to look at", l.id)
		case ctx.Err() != nil:
			return l.last, ended(ctx)
		case kind.Transient() && blind < tries:
			blind++
		default:
			return l.last, err
		}
		if err := l.s.client.sleep(ctx, pollWait); err != nil {
			return l.last, ended(ctx)
		}
	}
}

// lively is the body of a stream. Its end is an error, since an event counts only
// once it is whole, and its last one ends the stream before.
type lively struct {
	body io.Reader
	read func() // called whenever bytes came
}

func (b *lively) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n > 0 {
		b.read()
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err //nolint:wrapcheck // stream says what it means
}
