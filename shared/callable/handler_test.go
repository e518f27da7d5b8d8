package callable_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"truecost.dev/internal/transcript"
	"truecost.dev/shared/callable"
	"truecost.dev/shared/fault"
)

// problem is a detail of an error, as a validator reports it.
type problem struct {
	Path string `json:"path"`
	Code string `json:"code"`
}

// scripted does what its data says and answers with the call otherwise.
func scripted(_ context.Context, call callable.Call) (any, error) {
	switch string(call.Data) {
	case `"nothing"`:
		return nil, nil
	case `"invalid"`:
		e := fault.New(fault.Invalid, "the input has 1 error")
		e.Details = []problem{{"$.zip", "MISSING_FIELD"}}
		return nil, e
	case `"conflict"`:
		return nil, fault.New(fault.Conflict, "est-1 runs already")
	case `"unavailable"`:
		return nil, fault.Wrap(fault.Unavailable, errors.New("dial 10.0.0.7"), "the store is away")
	case `"internal"`:
		return nil, errors.New("row 7 is broken")
	case `"panic"`:
		panic("secret of the house")
	case `"typed"`:
		return map[string]any{"list": []any{map[string]string{"@type": "type.googleapis.com/google.rpc.ErrorInfo"}}}, nil
	case `"typed details"`:
		e := fault.New(fault.Invalid, "bad")
		e.Details = map[string]string{"@type": "x"}
		return nil, e
	case `"no JSON"`:
		return map[string]any{"f": func() {}}, nil
	}
	return map[string]any{"user": call.User, "data": call.Data, "says": `a string "@type": is none`}, nil
}

// verify knows alice; it cannot tell about a token that is checked later.
func verify(_ context.Context, token string) (string, error) {
	switch token {
	case "token-of-alice":
		return "alice", nil
	case "token-of-nobody":
		return "", nil
	case "checked-later":
		return "", fault.New(fault.Unavailable, "the certificates cannot be read")
	}
	return "", errors.New("signature does not match key 7")
}

func options() callable.Options {
	return callable.Options{Verify: verify, AllowAnonymous: true, Log: slog.New(slog.DiscardHandler)}
}

func open(handle func(context.Context, callable.Call) (any, error), opt callable.Options) http.Handler {
	return callable.NewHandler(callable.Func{Name: "start", Handle: handle}, opt)
}

// call posts a body as JSON.
func call(ctx context.Context, h http.Handler, body io.Reader) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/start", body).WithContext(ctx)
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(w, r)
	return w
}

func TestWire(t *testing.T) {
	t.Parallel()
	transcript.Play(t, "testdata/wire/*.txtar", func(*testing.T) http.Handler { return open(scripted, options()) })
}

func TestAnonymous(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		anonymous bool
		verify    func(context.Context, string) (string, error)
		auth      string
		want      int
	}{
		{"no token, allowed", true, verify, "", 200},
		{"no token, not allowed", false, verify, "", 401},
		{"a good token", false, verify, "Bearer token-of-alice", 200},
		{"a bad token where none is needed", true, verify, "Bearer forged", 401},
		{"nobody to verify", true, nil, "Bearer token-of-alice", 401},
	}
	for _, tt := range tests {
		opt := options()
		opt.AllowAnonymous, opt.Verify = tt.anonymous, tt.verify
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"data":1}`))
		r.Header.Set("Content-Type", "application/json")
		if tt.auth != "" {
			r.Header.Set("Authorization", tt.auth)
		}
		open(scripted, opt).ServeHTTP(w, r)
		if w.Code != tt.want {
			t.Errorf("%s: HTTP %d, %s, want %d", tt.name, w.Code, w.Body, tt.want)
		}
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	opt := options()
	opt.MaxBody = 64
	h := open(scripted, opt)
	tests := map[int]int{0: 200, 64 - len(`{"data":1}`): 200, 65 - len(`{"data":1}`): 400, 1 << 20: 400}
	for pad, want := range tests {
		if w := call(t.Context(), h, strings.NewReader(`{"data":1}`+strings.Repeat(" ", pad))); w.Code != want {
			t.Errorf("a body of %d bytes: HTTP %d, %s, want %d", pad+10, w.Code, w.Body, want)
		}
	}
	if w := call(t.Context(), h, io.MultiReader(strings.NewReader(`{"data"`), broken{})); w.Code != 400 {
		t.Errorf("a body that breaks off: HTTP %d, want 400", w.Code)
	}
	if w := call(t.Context(), h, strings.NewReader("{\"data\":\"\xff\"}")); w.Code != 400 {
		t.Errorf("a body that is not UTF-8: HTTP %d, want 400", w.Code)
	}
}

// broken is a body whose connection is lost.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opt := options()
		opt.Deadline = 3 * time.Second
		w := call(t.Context(), open(func(ctx context.Context, _ callable.Call) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, opt), strings.NewReader(`{"data":1}`))
		if want := `{"error":{"status":"DEADLINE_EXCEEDED","message":"the deadline passed"}}`; w.Code != 504 || w.Body.String() != want {
			t.Errorf("HTTP %d, %s, want 504, %s", w.Code, w.Body, want)
		}
	})
}

// A stack and a cause go to the log; bodies and tokens go nowhere.
func TestWhatIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	opt := options()
	opt.Log = slog.New(slog.NewTextHandler(&log, nil))
	h := open(func(ctx context.Context, c callable.Call) (any, error) {
		if strings.Contains(string(c.Data), "hunter2") {
			return nil, errors.New("row 7 is broken")
		}
		return scripted(ctx, c)
	}, opt)
	for _, data := range []string{`"panic"`, `"internal"`, `"invalid"`, `"hunter2"`} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"data":`+data+`}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer token-of-alice")
		h.ServeHTTP(w, r)
	}
	for _, want := range []string{"secret of the house", "goroutine", "row 7 is broken"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log misses %q:\n%s", want, log.String())
		}
	}
	for _, secret := range []string{"hunter2", "token-of-alice", "the input has 1 error"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %q:\n%s", secret, log.String())
		}
	}
}

func TestNewHandlerPanicsOnAnIncompleteFunction(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fn  callable.Func
		opt callable.Options
	}{
		"no name":   {callable.Func{Handle: scripted}, options()},
		"no handle": {callable.Func{Name: "start"}, options()},
		"no log":    {callable.Func{Name: "start", Handle: scripted}, callable.Options{}},
	}
	for name, tt := range tests {
		if p := panicked(func() { callable.NewHandler(tt.fn, tt.opt) }); p == nil {
			t.Errorf("NewHandler(%s) returned, want a panic", name)
		}
	}
}

func panicked(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// FuzzDecodeRequest sends any body: a call with data comes back as it was, all
// else is a bad request.
func FuzzDecodeRequest(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"data":null}`, `{"data":{"a":1.10}}`, `{"data":1,"data":2}`, `{"Data":1}`, `{"data":"\ud800"}`, "[]"} {
		f.Add([]byte(seed))
	}
	h := open(func(_ context.Context, c callable.Call) (any, error) { return c.Data, nil }, options())
	f.Fuzz(func(t *testing.T, body []byte) {
		w := call(t.Context(), h, bytes.NewReader(body))
		var got map[string]json.RawMessage
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got) != 1 {
			t.Fatalf("HTTP %d, %s, want an object with one member", w.Code, w.Body)
		}
		result, ok := got["result"]
		if ok != (w.Code == 200) {
			t.Fatalf("HTTP %d, %s, want a result with 200 and an error with anything else", w.Code, w.Body)
		}
		if !ok {
			return
		}
		again := call(t.Context(), h, strings.NewReader(`{"data":`+string(result)+`}`))
		if again.Body.String() != w.Body.String() {
			t.Errorf("sent again: %s, want %s", again.Body, w.Body)
		}
	})
}
