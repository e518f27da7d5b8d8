package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// Config says whom an Authority believes; the zero Config nobody. Now is required.
type Config struct {
	// URL is the base address of the agents, from configuration: issuer and
	// audience of our own tokens, which count at every agent below it.
	URL string

	// Secret signs our own tokens; strong, or refused. Empty: none are given out.
	// Clients are who may ask for them.
	Secret  string
	Clients []Client

	// Issuers sign tokens that are believed too, for the address of the agent that
	// is called or for one of Audiences.
	Issuers   []Issuer
	Audiences []string

	// Local is for the local system alone: callers may be nobody, and tokens of no
	// issuer are read by it. Nil everywhere else.
	Local func(ctx context.Context, token string) (subject string, err error)

	HTTP *http.Client // fetches keys of issuers; nil: one with a timeout of 10 s
	Now  func() time.Time
}

// Authority tells callers. It is safe for concurrent use.
type Authority struct {
	own       *signer // nil: there are no tokens of our own
	issuers   map[string]*issuer
	audiences []string
	local     func(context.Context, string) (string, error)
}

// New returns an authority, or every fault of the configuration, joined.
func New(c Config) (*Authority, error) {
	a := &Authority{issuers: map[string]*issuer{}, audiences: c.Audiences, local: c.Local}
	own, err := newSigner(c)
	errs := []error{err}
	a.own = own
	for _, i := range c.Issuers {
		issuer, err := newIssuer(i, c)
		if err == nil && a.issuers[i.URL] != nil {
			err = fmt.Errorf("the issuer %s is there twice", i.URL)
		}
		errs = append(errs, err)
		a.issuers[i.URL] = issuer
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	return a, nil
}

// Required reports whether callers must say who they are.
func (a *Authority) Required() bool { return a.local == nil }

// LogsIn reports whether there is a /login.
func (a *Authority) LogsIn() bool { return a.own != nil }

// maxToken is how long a token may be, in bytes.
const maxToken = 8 << 10

// At returns what tells the callers of the agent at that address. It returns
// fault.Unknown for whoever does not say who they are, or says it in a way that is
// not believed; fault.Denied for a subject that the operator left out; and
// fault.Unavailable when the keys of an issuer cannot be had.
func (a *Authority) At(url string) func(*http.Request) (task.Caller, error) {
	audiences := append([]string{url}, a.audiences...)
	return func(r *http.Request) (task.Caller, error) {
		token, err := bearer(r.Header)
		if err != nil {
			return task.Caller{}, err
		}
		if token == "" && a.local != nil {
			return task.Caller{}, nil
		}
		id, err := a.subject(r.Context(), token, audiences)
		return task.Caller{ID: id}, err
	}
}

// bearer returns the token of a request, or "" if it has none at all.
func bearer(h http.Header) (string, error) {
	values := h.Values("Authorization")
	if len(values) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxToken {
		return "", fault.New(fault.Unknown, "Authorization: want one Bearer token")
	}
	return token, nil
}

// subject chooses who verifies a token by what it says of its issuer, which is
// nothing but a choice until it is verified.
func (a *Authority) subject(ctx context.Context, token string, audiences []string) (string, error) {
	if token == "" {
		return "", fault.New(fault.Unknown, "a Bearer token is wanted")
	}
	var claims jwt.RegisteredClaims
	parsed, _, err := jwt.NewParser().ParseUnverified(token, &claims)
	if err != nil {
		return "", fault.Wrap(fault.Unknown, err, "the token cannot be read")
	}
	switch i := a.issuers[claims.Issuer]; {
	case i != nil:
		return i.subject(ctx, token, audiences)
	case a.own != nil && claims.Issuer == a.own.url:
		return a.own.subject(token)
	case a.local != nil && parsed.Method == jwt.SigningMethodNone:
		return a.local(ctx, token)
	}
	return "", fault.New(fault.Unknown, "the token is of an issuer that is not believed here")
}
