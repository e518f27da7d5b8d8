package fivestep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"truecost.dev/shared/fault"
)

// ask is one request.
type ask struct {
	method, address string
	body            []byte // JSON, or nil
	key             string // Idempotency-Key, or empty
	after           string // Last-Event-ID, or empty
	open            bool   // nobody has to be logged in
}

// session is who the specialist knows us as.
type session struct {
	mu    sync.Mutex // guards token; not held while logging in
	token string
}

func (s *session) get() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

func (s *session) set(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// retry sends a request until it is answered: again after what may pass, with
// longer and longer waits, and after one new login when the token is not taken.
// It returns the body of the answer.
func (s *Specialist) retry(ctx context.Context, a ask) ([]byte, error) {
	loggedIn := false
	for try := 1; ; try++ {
		body, after, err := s.once(ctx, a)
		kind := fault.KindOf(err)
		switch {
		case err == nil:
			return body, nil
		case ctx.Err() != nil:
			return nil, ended(ctx)
		case kind == fault.Unknown && !a.open && !loggedIn && s.logsIn():
			loggedIn = true
			if err := s.logIn(ctx); err != nil {
				return nil, err
			}
		case !kind.Transient() || try >= tries:
			return nil, err
		default:
			if err := s.client.sleep(ctx, max(after, pause(try))); err != nil {
				return nil, ended(ctx)
			}
		}
	}
}

// pause is how long to wait after a try.
func pause(try int) time.Duration { return min(firstWait<<(try-1), longWait) }

// ended returns why a context ended: its cause if that is a fault.
func ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if f, ok := errors.AsType[*fault.Error](cause); ok {
		return f
	}
	return fmt.Errorf("ask a specialist: %w", cause)
}

// once sends a request and reads its answer; after is how long the specialist
// wants to be left alone.
func (s *Specialist) once(ctx context.Context, a ask) (body []byte, after time.Duration, err error) {
	ctx, stop := context.WithTimeout(ctx, requestTime)
	defer stop()
	resp, err := s.send(ctx, a)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case resp.StatusCode >= http.StatusMultipleChoices:
		return nil, retryAfter(resp.Header), refusal(a, resp.StatusCode, body)
	case err != nil:
		return nil, 0, fault.Wrap(fault.Unavailable, err, "the answer of %s broke off", a.address)
	case len(body) > maxAnswer:
		return nil, 0, fault.New(fault.Invalid, "the answer of %s is longer than %d bytes", a.address, maxAnswer)
	}
	return body, 0, nil
}

// send sends a request. The caller closes the body of the response.
func (s *Specialist) send(ctx context.Context, a ask) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, a.method, a.address, bytes.NewReader(a.body))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the address %q cannot be asked", a.address)
	}
	r.Header.Set("Accept", "application/json")
	if a.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range map[string]string{"Idempotency-Key": a.key, "Last-Event-ID": a.after} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if token := s.session.get(); token != "" && !a.open {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := s.http.Do(r)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "%s does not answer", a.address)
	}
	return resp, nil
}

// refusal makes an error of an answer other than a success. What the specialist
// says of it is for whoever asked.
func refusal(a ask, status int, body []byte) error {
	kind := fault.Invalid
	switch {
	case status == http.StatusUnauthorized:
		kind = fault.Unknown
	case status == http.StatusForbidden:
		kind = fault.Denied
	case status == http.StatusNotFound:
		kind = fault.NotFound
	case status == http.StatusConflict:
		kind = fault.Conflict
	case status == http.StatusTooManyRequests:
		kind = fault.Exhausted
	case status >= http.StatusInternalServerError:
		kind = fault.Unavailable
	}
	var said struct {
		Error   any             `json:"error"`
		Message string          `json:"message"`
		Details json.RawMessage `json:"details"`
	}
	_ = json.Unmarshal(body, &said) // another body says nothing
	text, _ := said.Error.(string)
	if text == "" {
		text = said.Message
	}
	if text == "" {
		text = http.StatusText(status)
	}
	e := fault.New(kind, "%s answers HTTP %d: %s", a.address, status, cut(text))
	if said.Details != nil {
		e.Details = said.Details
	}
	return e
}

// cut bounds a text of a specialist.
func cut(text string) string {
	const most = 500
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// retryAfter reads how long a specialist wants to be left alone, in seconds or up
// to a date by its own clock. It is bounded.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return min(time.Duration(max(seconds, 0))*time.Second, longWait)
	}
	until, err := http.ParseTime(value)
	now, err2 := http.ParseTime(h.Get("Date"))
	if err != nil || err2 != nil {
		return 0
	}
	return min(max(until.Sub(now), 0), longWait)
}

// logsIn reports whether there is a way to get a token.
func (s *Specialist) logsIn() bool { return s.login != "" && s.client.ClientID != "" }

// logIn gets a token.
func (s *Specialist) logIn(ctx context.Context) error {
	body, err := json.Marshal(map[string]string{"client_id": s.client.ClientID, "client_secret": s.client.ClientSecret})
	if err != nil {
		return fault.Wrap(fault.Internal, err, "encode a login")
	}
	answer, err := s.retry(ctx, ask{method: http.MethodPost, address: s.login, body: body, open: true})
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	var got struct {
		Token string `json:"token"`
	}
	if json.Unmarshal(answer, &got) != nil || got.Token == "" {
		return fault.New(fault.Invalid, "%s answers a login without a token", s.login)
	}
	s.session.set(got.Token)
	return nil
}
