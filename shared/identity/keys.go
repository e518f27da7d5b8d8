package identity

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"truecost.dev/shared/fault"
)

const (
	pause   = 10 * time.Second // between two looks for a key: a token may name any
	maxKeys = 1 << 20          // bytes of an answer of an issuer
	minRSA  = 2048             // bits of a key
)

// keySet is the public keys of an issuer, fetched when the first token comes and
// again when one is signed with a key that is not known.
type keySet struct {
	issuer string
	client *http.Client
	now    func() time.Time
	flight singleflight.Group

	mu    sync.Mutex // guards what follows; not held while fetching
	at    string     // the keys' address, once discovered
	keys  map[string]crypto.PublicKey
	asked time.Time
	err   error // of the last fetch
}

// key returns the key of that name. It returns fault.Unknown when the issuer has
// none, and fault.Unavailable when it cannot be asked.
func (s *keySet) key(ctx context.Context, name string) (crypto.PublicKey, error) {
	if key, ok, err := s.known(name); ok || err != nil {
		return key, err
	}
	// One asks for all who wait, and the one who leaves does not stop it.
	_, _, _ = s.flight.Do("", func() (any, error) {
		if _, ok, err := s.known(name); !ok && err == nil { // nobody did just before
			s.refresh(context.WithoutCancel(ctx))
		}
		return nil, nil
	})
	key, _, err := s.known(name)
	return key, err
}

// known looks a key up in what was fetched; neither key nor error asks for another
// fetch.
func (s *keySet) known(name string) (key crypto.PublicKey, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key, ok := s.keys[name]; ok {
		return key, true, nil
	}
	switch fresh := s.now().Sub(s.asked) < pause; {
	case !fresh:
		return nil, false, nil
	case s.err != nil:
		return nil, false, fault.Wrap(fault.Unavailable, s.err, "the keys of the token's issuer cannot be had")
	}
	return nil, false, fault.New(fault.Unknown, "the token is signed with a key that its issuer does not have")
}

// refresh fetches the keys. Those that were known stay when that does not work.
func (s *keySet) refresh(ctx context.Context) {
	s.mu.Lock()
	at := s.at
	s.mu.Unlock()
	keys, err := map[string]crypto.PublicKey(nil), error(nil)
	if at == "" {
		at, err = s.discover(ctx)
	}
	if err == nil {
		keys, err = s.fetch(ctx, at)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.err = s.now(), err
	if err != nil {
		s.at = "" // they may have moved
		return
	}
	s.at, s.keys = at, keys
}

// discover asks the issuer where its keys are (OpenID Connect Discovery 1.0).
func (s *keySet) discover(ctx context.Context) (string, error) {
	var about struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := s.get(ctx, strings.TrimSuffix(s.issuer, "/")+"/.well-known/openid-configuration", &about); err != nil {
		return "", fmt.Errorf("discover the issuer: %w", err)
	}
	if about.Issuer != s.issuer || about.Keys == "" {
		return "", fmt.Errorf("discover the issuer: it calls itself %q and has its keys at %q", about.Issuer, about.Keys)
	}
	return about.Keys, nil
}

// fetch reads the keys at an address. Keys that are for something else are left
// out.
func (s *keySet) fetch(ctx context.Context, at string) (map[string]crypto.PublicKey, error) {
	var set struct {
		Keys []webKey `json:"keys"`
	}
	if err := s.get(ctx, at, &set); err != nil {
		return nil, fmt.Errorf("fetch keys: %w", err)
	}
	keys := map[string]crypto.PublicKey{}
	for _, k := range set.Keys {
		if key, err := k.public(); err == nil {
			keys[k.ID] = key
		}
	}
	return keys, nil
}

func (s *keySet) get(ctx context.Context, address string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("the address %q: %w", address, err)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return err //nolint:wrapcheck // it names method and address
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers HTTP %d", address, resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxKeys)).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

// webKey is a key as RFC 7517 writes it, of the two kinds that issuers sign with
// here.
type webKey struct {
	ID    string `json:"kid"`
	Type  string `json:"kty"`
	Use   string `json:"use"`
	Curve string `json:"crv"`
	N     string `json:"n"`
	E     string `json:"e"`
	X     string `json:"x"`
	Y     string `json:"y"`
}

var errKey = errors.New("no key to verify signatures with")

func (k webKey) public() (crypto.PublicKey, error) {
	switch {
	case k.Use != "" && k.Use != "sig":
		return nil, errKey
	case k.Type == "RSA":
		n, err := number(k.N)
		e, err2 := number(k.E)
		if err != nil || err2 != nil || n.BitLen() < minRSA || e.BitLen() > 31 || e.Int64() < 3 {
			return nil, errKey
		}
		return &rsa.PublicKey{N: n, E: int(e.Int64())}, nil
	case k.Type == "EC" && k.Curve == "P-256":
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		y, err2 := base64.RawURLEncoding.DecodeString(k.Y)
		if err != nil || err2 != nil {
			return nil, errKey
		}
		return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...)) //nolint:wrapcheck // only whether
	}
	return nil, errKey
}

func number(text string) (*big.Int, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return new(big.Int).SetBytes(raw), err
}
