package front

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"truecost.dev/shared/a2a/wire"
)

// methodError is a request with a method that its path does not have.
type methodError struct {
	refusal *wire.Refusal
	allow   string
}

func (e *methodError) Error() string { return e.refusal.Error() }
func (e *methodError) Unwrap() error { return e.refusal }

// wrongMethod refuses a request whose path has the allowed methods alone.
func wrongMethod(allow string) error {
	return &methodError{wire.Refuse(http.StatusMethodNotAllowed, wire.CodeInvalidRequest, "this path is asked with %s", allow), allow}
}

// write sends an answer, and the headers that go with an error of any dialect.
func (f *front) write(ctx context.Context, w http.ResponseWriter, r request, out response, err error) {
	header := w.Header()
	if err != nil {
		f.excuse(ctx, header, r, err)
	}
	header.Set("Content-Type", "application/json")
	if out.media != "" {
		header.Set("Content-Type", out.media)
	}
	header.Set("Content-Length", strconv.Itoa(len(out.body)))
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body) // the caller has gone if this fails
}

// excuse logs an error that is ours, under the id that its answer names.
func (f *front) excuse(ctx context.Context, header http.Header, r request, err error) {
	refusal := wire.RefusalOf(err)
	if refusal.Code == wire.CodeInternal || refusal.Code == wire.CodeServer || refusal.Code == wire.CodeAgentResponse {
		id := f.opt.NewID()
		header.Set("X-Request-Id", id)
		f.opt.Log.ErrorContext(ctx, "request not served",
			slog.String("request", id), slog.String("agent", r.agent.Name), slog.Any("error", err))
	}
	switch refusal.HTTP {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set("Retry-After", "1")
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", "Bearer")
	}
	if m, ok := errors.AsType[*methodError](err); ok {
		header.Set("Allow", m.allow)
	}
}
