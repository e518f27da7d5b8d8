// Package webhook tells the receivers of push notifications what happened to
// their tasks: one request for one event, over a client that guards where it
// goes. When to tell, how often and in which order is the worker's business
// (package task): a request that fails is sent again, so a receiver may see an
// event twice.
package webhook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// Doer sends a request to an address that a caller chose: it refuses what is not
// public with fault.Invalid, follows no redirect, and bounds the answer.
type Doer interface {
	Do(req *http.Request) (*http.Response, error)
}

// Sender tells webhooks. HTTP and Log are required.
type Sender struct {
	HTTP Doer
	Log  *slog.Logger

	// Early writes a task as A2A 0.3 does, for hooks that were made in 0.3.
	Early func(t *sdk.Task) ([]byte, error)
}

// Timeout is how long a receiver may take to answer.
const Timeout = 10 * time.Second

// maxAnswer is how much of an answer is read, so that its connection ends well:
// what a receiver says beside its status is nothing to us.
const maxAnswer = 64 << 10

// headers of the token of a hook: A2A 1.0 names the first, 0.3 the second.
var headers = []string{"A2A-Notification-Token", "X-A2A-Notification-Token"}

// Post tells one webhook of one event: the event itself as A2A 1.0 wraps it in a
// stream, or t, the task as it is, if the hook was made in 0.3. An answer of the
// 2xx is taken. It is a task.Worker.Post.
//
// It returns fault.Unavailable when trying later may help: nobody answered, or
// with 408, 429 or 5xx. Everything else is fault.Invalid, and the same request
// would fail again. Neither errors nor log lines carry more of the address than
// its host, or anything of token and credentials.
func (s *Sender) Post(ctx context.Context, h task.Hook, e task.Entry, t *sdk.Task) error {
	body, media, err := s.body(h, e, t)
	if err != nil || body == nil {
		return err
	}
	host := hostOf(h.Config.URL)
	ctx, cancel := context.WithTimeoutCause(ctx, Timeout, fmt.Errorf("webhook at %s: no answer in %v", host, Timeout))
	defer cancel()
	req, err := request(ctx, h.Config, media, body)
	if err != nil {
		return err
	}
	status, err := s.send(req)
	if err != nil {
		return fmt.Errorf("tell webhook %s of task %s: %w", h.Config.ID, h.Config.TaskID, err)
	}
	s.Log.InfoContext(ctx, "webhook told", slog.String("task", string(h.Config.TaskID)), slog.String("hook", h.Config.ID),
		slog.Int64("event", e.Seq), slog.String("host", host), slog.Int("status", status))
	return nil
}

// body returns what to send; nil when there is nothing to say in the hook's
// version of the protocol.
func (s *Sender) body(h task.Hook, e task.Entry, t *sdk.Task) (body []byte, media string, err error) {
	if !h.Early {
		body, err = task.EncodeEvent(e.Event)
		if err != nil {
			return nil, "", fault.Wrap(fault.Internal, err, "encode event %d of task %s", e.Seq, h.Config.TaskID)
		}
		return body, "application/a2a+json", nil
	}
	if _, alone := e.Event.(*sdk.Message); alone || t == nil {
		return nil, "", nil // an answer without a task: 0.3 tells of tasks alone
	}
	if s.Early == nil {
		return nil, "", fault.New(fault.Internal, "webhooks of A2A 0.3 need an encoder")
	}
	body, err = s.Early(t)
	if err != nil {
		return nil, "", fault.Wrap(fault.Internal, err, "encode task %s for A2A 0.3", h.Config.TaskID)
	}
	return body, "application/json", nil
}

func request(ctx context.Context, c sdk.PushConfig, media string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fault.New(fault.Invalid, "url: wanted an absolute address") // the cause would repeat the address
	}
	req.Header.Set("Content-Type", media)
	req.Header.Set("User-Agent", "TrueCost")
	if c.Token != "" {
		for _, name := range headers {
			req.Header.Set(name, c.Token)
		}
	}
	if c.Auth != nil && c.Auth.Credentials != "" {
		req.Header.Set("Authorization", strings.TrimSpace(c.Auth.Scheme+" "+c.Auth.Credentials))
	}
	for _, values := range req.Header {
		if strings.ContainsFunc(values[0], notInHeaders) {
			return nil, fault.New(fault.Invalid, "token and authentication: wanted visible characters")
		}
	}
	return req, nil
}

// notInHeaders reports what would end a header, or what receivers read in
// several ways.
func notInHeaders(r rune) bool { return r < ' ' || r > '~' }

// send returns the status of an answer that took the event, and why another did
// not.
func (s *Sender) send(req *http.Request) (int, error) {
	res, err := s.HTTP.Do(req)
	if err != nil {
		return 0, again(err)
	}
	defer res.Body.Close() //nolint:errcheck // the answer is in the status
	_, _ = io.CopyN(io.Discard, res.Body, maxAnswer)
	switch code := res.StatusCode; {
	case code >= 200 && code < 300:
		return code, nil
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		return code, fault.New(fault.Unavailable, "%s answered %d", req.URL.Hostname(), code)
	default:
		return code, fault.New(fault.Invalid, "%s answered %d", req.URL.Hostname(), code)
	}
}

// again turns the error of a request that had no answer into one of Post.
func again(err error) error {
	if kind := fault.KindOf(err); kind == fault.Invalid || kind == fault.Canceled {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "the webhook did not answer")
}

// hostOf returns the part of an address that may stand in a log.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
