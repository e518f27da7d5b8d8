package identity

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

const (
	maxLogin  = 4 << 10          // bytes of a login
	loginTime = 10 * time.Second // for them to arrive
)

// Login returns next with POST …/login before it, where clients get tokens: with
// HTTP Basic, or with {"client_id", "client_secret"} as JSON. Where there are no
// tokens of our own it returns next as it is.
func (a *Authority) Login(next http.Handler) http.Handler {
	if a.own == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(strings.TrimSuffix(r.URL.Path, "/"), wire.FiveStepLogin) {
			next.ServeHTTP(w, r)
			return
		}
		a.own.login(w, r)
	})
}

func (s *signer) login(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		reply(w, http.StatusMethodNotAllowed, refused{Error: "a login is sent with POST"})
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(s.now().Add(loginTime)) // a writer that cannot has no socket
	id, secret, err := credentials(w, r)
	var token string
	if err == nil {
		token, err = s.token(id, secret)
	}
	switch fault.KindOf(err) {
	case "":
		reply(w, http.StatusOK, struct {
			Token   string `json:"token"`
			Type    string `json:"token_type"`
			Expires int    `json:"expires_in"` // seconds
		}{token, "Bearer", int(Lifetime.Seconds())})
	case fault.Invalid:
		reply(w, http.StatusBadRequest, refused{Error: fault.Public(err)})
	case fault.Unknown:
		w.Header().Set("WWW-Authenticate", `Basic realm="truecost", charset="UTF-8"`)
		reply(w, http.StatusUnauthorized, refused{Error: fault.Public(err), Message: fault.Public(err)})
	default:
		reply(w, http.StatusInternalServerError, refused{Error: "internal error"})
	}
}

// refused is the body of an error. Message is where older requesters look.
type refused struct {
	Error   string `json:"error"`
	Message string `json:"message,omitempty"`
}

// credentials reads who wants to log in.
func credentials(w http.ResponseWriter, r *http.Request) (id, secret string, err error) {
	if id, secret, ok := r.BasicAuth(); ok {
		return id, secret, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLogin))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return "", "", fault.New(fault.Invalid, "the body is larger than %d bytes", maxLogin)
	}
	var in struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err != nil || json.Unmarshal(body, &in) != nil {
		return "", "", fault.New(fault.Invalid, "want HTTP Basic, or client_id and client_secret as JSON")
	}
	return in.ID, in.Secret, nil
}

// reply answers with what nobody may keep.
func reply(w http.ResponseWriter, status int, v any) {
	body, err := wire.Compact(v)
	if err != nil { // unreachable: strings and numbers
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal error"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller has gone if this fails
}
