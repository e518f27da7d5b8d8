package callable_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/fault"
)

// inProcess sends requests to a handler without a port.
type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func client(h http.Handler) *callable.Client {
	return &callable.Client{BaseURL: "http://functions/truecost/us-central1/", HTTP: &http.Client{Transport: inProcess{h}}, Token: "token-of-alice"}
}

func TestCall(t *testing.T) {
	t.Parallel()
	var got struct {
		User string
		Data struct{ Zip string }
	}
	c := client(open(scripted, options()))
	if err := c.Call(t.Context(), "start", map[string]string{"zip": "80202"}, &got); err != nil {
		t.Fatalf("Call() = %v, want a result", err)
	}
	if got.User != "alice" || got.Data.Zip != "80202" {
		t.Errorf("Call() = %+v, want alice and 80202", got)
	}
	if err := c.Call(t.Context(), "start", nil, nil); err != nil {
		t.Errorf("Call(nil) = %v, want no error", err)
	}
	c.Token = ""
	if err := c.Call(t.Context(), "start", nil, &got); err != nil || got.User != "" {
		t.Errorf("Call() without a token = %+v, %v, want an anonymous user", got, err)
	}
	if err := c.Call(t.Context(), "start", func() {}, nil); fault.KindOf(err) != fault.Invalid {
		t.Errorf("Call(a func) = %v, want kind invalid", err)
	}
	c.BaseURL = "http://bad host"
	if err := c.Call(t.Context(), "start", nil, nil); fault.KindOf(err) != fault.Invalid {
		t.Errorf("Call(bad address) = %v, want kind invalid", err)
	}
}

func TestCallDetails(t *testing.T) {
	t.Parallel()
	err := client(open(scripted, options())).Call(t.Context(), "start", "invalid", nil)
	if fault.KindOf(err) != fault.Invalid || fault.Public(err) != "the input has 1 error" {
		t.Errorf("Call() = %v, want the message of the function", err)
	}
	raw, _ := fault.Details(err).(json.RawMessage)
	var got []problem
	if err := json.Unmarshal(raw, &got); err != nil || len(got) != 1 || got[0] != (problem{"$.zip", "MISSING_FIELD"}) {
		t.Errorf("Details() = %s, %v, want the list of problems", raw, err)
	}
}

func TestCallFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		code int
		body string
		want fault.Kind
		says string
	}{
		{"error with its status", 409, `{"error":{"status":"ALREADY_EXISTS","message":"runs already"}}`, fault.Conflict, "runs already"},
		{"error with 200", 200, `{"error":{"status":"NOT_FOUND","message":"m"}}`, fault.NotFound, "m"},
		{"error of an unknown status", 503, `{"error":{"status":"TIRED","message":"m"}}`, fault.Unavailable, "m"},
		{"error without a message", 500, `{"error":{}}`, fault.Internal, ""},
		{"no JSON, 404", 404, `<html>`, fault.NotFound, "HTTP 404"},
		{"no JSON, 502", 502, ``, fault.Unavailable, "HTTP 502"},
		{"a result with 500", 500, `{"result":1}`, fault.Internal, "HTTP 500"},
		{"no JSON, 200", 200, `<html>`, fault.Internal, "not JSON"},
		{"neither", 200, `{}`, fault.Internal, "neither"},
		{"result of another shape", 200, `{"result":"x"}`, fault.Internal, "cannot be read"},
		{"too large", 200, strings.Repeat(" ", 10<<20) + `{}`, fault.Internal, "larger"},
	}
	for _, tt := range tests {
		c := client(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.code)
			_, _ = io.WriteString(w, tt.body)
		}))
		err := c.Call(t.Context(), "start", nil, new(int))
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || e.Kind != tt.want || !strings.Contains(e.Msg, tt.says) {
			t.Errorf("%s: Call() = %v, want %q with %q", tt.name, err, tt.want, tt.says)
		}
	}
}

// An older function answers with data; null is a result too.
func TestCallResultForms(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{`{"result":1}`: 1, `{"data":2}`: 2, `{"result":null}`: 7, `{"result":3,"data":4}`: 3} {
		got := 7
		err := client(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })).Call(t.Context(), "start", nil, &got)
		if err != nil || got != want {
			t.Errorf("Call() answered %s = %d, %v, want %d", body, got, err, want)
		}
	}
}

// failing is a connection that ends in an error.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// late is a network error that is a timeout.
type late struct{}

func (late) Error() string   { return "i/o timeout" }
func (late) Timeout() bool   { return true }
func (late) Temporary() bool { return true }

func TestCallUnreachable(t *testing.T) {
	t.Parallel()
	for want, cause := range map[fault.Kind]error{fault.Unavailable: syscall.ECONNREFUSED, fault.Timeout: late{}} {
		c := callable.Client{BaseURL: "http://functions", HTTP: &http.Client{Transport: failing{cause}}}
		if err := c.Call(t.Context(), "start", nil, nil); fault.KindOf(err) != want {
			t.Errorf("Call() over %v = %v, want kind %q", cause, err, want)
		}
	}
}

func TestCallEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := client(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Call(ctx, "start", nil, nil); fault.KindOf(err) != fault.Timeout {
			t.Errorf("Call() until a deadline = %v, want kind timeout", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := c.Call(ctx, "start", nil, nil); fault.KindOf(err) != fault.Canceled {
			t.Errorf("Call() until canceled = %v, want kind canceled", err)
		}
	})
}

// unsigned makes a token as the SDKs do for an emulator.
func unsigned(header, claims string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + "."
}

func TestUnsignedVerifier(t *testing.T) {
	t.Parallel()
	const none = `{"alg":"none","type":"JWT"}`
	tests := []struct {
		name, token, want string
	}{
		{"of the SDK, expired", unsigned(none, `{"sub":"alice","iat":0,"exp":3600}`), "alice"},
		{"padded", strings.Replace(unsigned(none, `{"sub":"bob"}`), ".", "=.", 1), "bob"},
		{"subject of 128 bytes", unsigned(none, `{"sub":"`+strings.Repeat("a", 128)+`"}`), strings.Repeat("a", 128)},
		{"subject of 129 bytes", unsigned(none, `{"sub":"`+strings.Repeat("a", 129)+`"}`), ""},
		{"no subject", unsigned(none, `{}`), ""},
		{"subject a number", unsigned(none, `{"sub":7}`), ""},
		{"with a signature", unsigned(none, `{"sub":"alice"}`) + "c2ln", ""},
		{"another algorithm", unsigned(`{"alg":"RS256"}`, `{"sub":"alice"}`), ""},
		{"no algorithm", unsigned(`{}`, `{"sub":"alice"}`), ""},
		{"two segments", "e30.e30", ""},
		{"header no base64", "%.e30.", ""},
		{"claims no JSON", unsigned(none, `x`), ""},
		{"owner", "owner", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		got, err := callable.UnsignedVerifier(t.Context(), tt.token)
		if got != tt.want || (err == nil) != (tt.want != "") || err != nil && fault.KindOf(err) != fault.Unknown {
			t.Errorf("%s: UnsignedVerifier() = %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

// FuzzDecodeToken verifies anything: a user, or an error of kind unknown.
func FuzzDecodeToken(f *testing.F) {
	f.Add(unsigned(`{"alg":"none"}`, `{"sub":"alice"}`))
	f.Add("e30..")
	f.Fuzz(func(t *testing.T, token string) {
		user, err := callable.UnsignedVerifier(t.Context(), token)
		if (user == "") != (err != nil) || err != nil && fault.KindOf(err) != fault.Unknown {
			t.Errorf("UnsignedVerifier(%q) = %q, %v, want a user or an error of kind unknown", token, user, err)
		}
	})
}

func ExampleNewHandler() {
	h := callable.NewHandler(callable.Func{
		Name: "greet",
		Handle: func(_ context.Context, call callable.Call) (any, error) {
			return map[string]any{"hello": call.User, "heard": call.Data}, nil
		},
	}, options())
	var got json.RawMessage
	err := client(h).Call(context.Background(), "greet", []int{1, 2}, &got)
	fmt.Println(string(got), err)
	// Output: {"heard":[1,2],"hello":"alice"} <nil>
}
