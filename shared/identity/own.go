package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"truecost.dev/shared/fault"
)

// Client is a program that may ask for tokens.
type Client struct {
	ID   string   // the subject of its tokens
	Hash [32]byte // SHA-256 of its secret
}

// Lifetime of a token of our own.
const Lifetime = time.Hour

// MinSecret is how long the secret of a client is at least, in bytes: it is
// random and no password, so that a fast hash is enough.
const MinSecret = 32

var clientID = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// ParseClients reads clients as an operator writes them: id=sha256:HEX, divided by
// commas, where HEX is the hash of the client's secret.
func ParseClients(text string) ([]Client, error) {
	var clients []Client
	for field := range strings.SplitSeq(text, ",") {
		field = strings.TrimSpace(field)
		if field == "" {
			continue
		}
		id, hash, _ := strings.Cut(field, "=")
		digits, ok := strings.CutPrefix(hash, "sha256:")
		raw, err := hex.DecodeString(digits)
		c := Client{ID: id}
		if copy(c.Hash[:], raw); !ok || err != nil || len(raw) != len(c.Hash) || !clientID.MatchString(id) {
			return nil, fault.New(fault.Invalid, "client %d: want id=sha256:HEX", len(clients)+1) // not shown: it may be a secret
		}
		clients = append(clients, c)
	}
	return clients, nil
}

// signer gives out tokens of our own and reads them.
type signer struct {
	url     string
	secret  []byte
	clients map[string][32]byte
	now     func() time.Time
	parser  *jwt.Parser
}

func newSigner(c Config) (*signer, error) {
	switch {
	case c.Secret == "" && len(c.Clients) == 0:
		return nil, nil
	case c.Secret == "":
		return nil, errors.New("clients without a secret to sign their tokens")
	case len(c.Clients) == 0:
		return nil, errors.New("a secret to sign tokens without a client to ask for them")
	case c.URL == "":
		return nil, errors.New("tokens of our own need the base address of the agents")
	}
	if err := weakness(c.Secret); err != nil {
		return nil, err
	}
	s := &signer{
		url: c.URL, secret: []byte(c.Secret), clients: map[string][32]byte{}, now: c.Now,
		parser: jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(c.URL), jwt.WithAudience(c.URL),
			jwt.WithExpirationRequired(), jwt.WithTimeFunc(c.Now), jwt.WithStrictDecoding()),
	}
	for _, client := range c.Clients {
		if _, twice := s.clients[client.ID]; twice || !clientID.MatchString(client.ID) {
			return nil, fmt.Errorf("the client %q is there twice, or its id is not of letters, digits, _ . and -", client.ID)
		}
		s.clients[client.ID] = client.Hash
	}
	return s, nil
}

// token returns a token for a client that proves its secret. How long it takes
// says neither whether the client is known nor how much of a secret was right.
func (s *signer) token(id, secret string) (string, error) {
	want, known := s.clients[id]
	got := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 || !known || len(secret) < MinSecret {
		return "", fault.New(fault.Unknown, "no such client, or not its secret")
	}
	now := s.now()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Issuer: s.url, Subject: id, Audience: jwt.ClaimStrings{s.url}, ID: rand.Text(),
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(Lifetime)),
	}).SignedString(s.secret)
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "sign a token")
	}
	return signed, nil
}

// subject returns who a token of our own was given to: a client that still is one.
func (s *signer) subject(token string) (string, error) {
	var claims jwt.RegisteredClaims
	_, err := s.parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return s.secret, nil })
	if err != nil {
		return "", invalid(err)
	}
	if _, known := s.clients[claims.Subject]; !known {
		return "", fault.New(fault.Unknown, "the token is of a client that is no more")
	}
	return claims.Subject, nil
}
