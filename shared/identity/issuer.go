package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"truecost.dev/shared/fault"
)

// Issuer is an OpenID Connect provider whose tokens are believed.
type Issuer struct {
	URL string // as it stands in iss; its keys are found by discovery

	// Subjects are who is let in, by subject or by an e-mail address that the
	// issuer verified. Empty lets in everybody the issuer knows: of a public
	// issuer that is everybody.
	Subjects []string

	// Own is the account that the pipeline itself calls its agents with, by subject
	// or verified e-mail address: it is let in and is the zero Caller, which is what
	// it takes itself for when it names the tasks of its calls. Empty: none.
	Own string
}

// algorithms are what issuers may sign with.
var algorithms = []string{jwt.SigningMethodRS256.Alg(), jwt.SigningMethodES256.Alg()}

// maxSubject is how long a subject may be, in bytes.
const maxSubject = 255

// issuer reads the tokens of an Issuer.
type issuer struct {
	Issuer
	keys *keySet
	now  func() time.Time
}

func newIssuer(i Issuer, c Config) (*issuer, error) {
	u, err := url.Parse(i.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || c.Local == nil) {
		return nil, fmt.Errorf("the issuer %q is no https address", i.URL)
	}
	client := c.HTTP
	if client == nil {
		client = &http.Client{Timeout: 10 * time.Second}
	}
	return &issuer{Issuer: i, keys: &keySet{issuer: i.URL, client: client, now: c.Now}, now: c.Now}, nil
}

// claims are what is read of an issuer's token.
type claims struct {
	jwt.RegisteredClaims
	Email    string `json:"email"`
	Verified bool   `json:"email_verified"`
}

// subject returns whom a token names: the issuer and its subject, since two
// issuers may call different people the same.
func (i *issuer) subject(ctx context.Context, token string, audiences []string) (string, error) {
	var c claims
	_, err := jwt.NewParser(jwt.WithValidMethods(algorithms), jwt.WithIssuer(i.URL), jwt.WithAudience(audiences...),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(i.now), jwt.WithStrictDecoding(),
	).ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		kid, _ := t.Header["kid"].(string)
		return i.keys.key(ctx, kid)
	})
	switch {
	case fault.KindOf(err) == fault.Unavailable:
		return "", err
	case err != nil:
		return "", invalid(err)
	case c.Subject == "" || len(c.Subject) > maxSubject:
		return "", fault.New(fault.Unknown, "the token names nobody")
	case i.Own != "" && c.is(i.Own):
		return "", nil
	case !i.lets(c):
		return "", fault.New(fault.Denied, "the subject of the token is not let in")
	}
	return i.URL + "#" + c.Subject, nil
}

// lets reports whether the subject of a token is one of Subjects.
func (i *issuer) lets(c claims) bool {
	return len(i.Subjects) == 0 || slices.ContainsFunc(i.Subjects, c.is)
}

// is reports whether a token names an account by its subject or its verified
// e-mail address.
func (c claims) is(account string) bool {
	return c.Subject == account || c.Verified && c.Email != "" && c.Email == account
}

// invalid says of a token what whoever sent it can mend.
func invalid(err error) error {
	switch {
	case errors.Is(err, jwt.ErrTokenSignatureInvalid), errors.Is(err, jwt.ErrTokenUnverifiable):
		return fault.Wrap(fault.Unknown, err, "the token is not signed as it should be")
	case errors.Is(err, jwt.ErrTokenExpired):
		return fault.Wrap(fault.Unknown, err, "the token has expired")
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		return fault.Wrap(fault.Unknown, err, "the token is for somebody else")
	}
	return fault.Wrap(fault.Unknown, err, "the token is not valid")
}
