package card

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// half is the length of r, of s and of a coordinate on P-256.
const half = 32

var b64 = base64.RawURLEncoding

// Key signs cards.
type Key struct {
	private *ecdsa.PrivateKey
	id      string
}

// ParseKey reads a private key for ES256: P-256 in PEM, as PKCS 8 or SEC 1
// ("openssl ecparam -name prime256v1 -genkey -noout" writes one). Its errors say
// nothing of what is in text.
func ParseKey(text []byte) (*Key, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		var key any
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		default: // EC PARAMETERS stands before the key
			continue
		}
		private, ok := key.(*ecdsa.PrivateKey)
		if err != nil || !ok || private.Curve != elliptic.P256() {
			return nil, fault.New(fault.Invalid, "the key is not on the curve P-256")
		}
		return &Key{private: private, id: publicOf(&private.PublicKey).thumbprint()}, nil
	}
	return nil, fault.New(fault.Invalid, "the key is not a private key in PEM")
}

// ID returns the name of the key: its thumbprint (RFC 7638).
func (k *Key) ID() string { return k.id }

// JWKS returns the public key as a set of one (RFC 7517).
func (k *Key) JWKS() []byte {
	public := publicOf(&k.private.PublicKey)
	public.Use, public.Alg, public.Kid = "sig", "ES256", k.id
	text, err := wire.Compact(keySet{Keys: []jwk{public}})
	if err != nil {
		panic("card: encode a key of strings: " + err.Error())
	}
	return text
}

// sign returns the signature of a payload. It is the same every time (RFC 6979),
// so that instances serve equal cards.
func (k *Key) sign(payload []byte) (sdk.AgentCardSignature, error) {
	header, err := wire.Compact(protected{Alg: "ES256", Kid: k.id, Typ: "JOSE"})
	if err != nil {
		return sdk.AgentCardSignature{}, fmt.Errorf("encode the header of a signature: %w", err)
	}
	s := sdk.AgentCardSignature{Protected: b64.EncodeToString(header)}
	sum := sha256.Sum256(signed(s.Protected, payload))
	der, err := k.private.Sign(nil, sum[:], crypto.SHA256)
	if err != nil {
		return s, fmt.Errorf("sign a card: %w", err)
	}
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &pair); err != nil {
		return s, fmt.Errorf("read the signature of a card: %w", err)
	}
	raw := make([]byte, 2*half)
	pair.R.FillBytes(raw[:half])
	pair.S.FillBytes(raw[half:])
	s.Signature = b64.EncodeToString(raw)
	return s, nil
}

// signed is the text that a JWS signs.
func signed(header string, payload []byte) []byte {
	return append([]byte(header+"."), b64.EncodeToString(payload)...)
}

type protected struct {
	Alg string `json:"alg"`
	Kid string `json:"kid"`
	Typ string `json:"typ"`
}

type keySet struct {
	Keys []jwk `json:"keys"`
}

// jwk is a public key. Its first four members, in this order, are what a
// thumbprint is of.
type jwk struct {
	Crv string `json:"crv"`
	Kty string `json:"kty"`
	X   string `json:"x"`
	Y   string `json:"y"`
	Use string `json:"use,omitempty"`
	Alg string `json:"alg,omitempty"`
	Kid string `json:"kid,omitempty"`
}

func publicOf(key *ecdsa.PublicKey) jwk {
	point, err := key.Bytes() // 4, x, y
	if err != nil {
		panic("card: a key off its curve: " + err.Error())
	}
	return jwk{Crv: "P-256", Kty: "EC", X: b64.EncodeToString(point[1 : 1+half]), Y: b64.EncodeToString(point[1+half:])}
}

func (j jwk) thumbprint() string {
	text, err := wire.Compact(jwk{Crv: j.Crv, Kty: j.Kty, X: j.X, Y: j.Y})
	if err != nil {
		panic("card: encode a key of strings: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return b64.EncodeToString(sum[:])
}

// key returns the public key, or nil for one that is not for ES256.
func (j jwk) key() *ecdsa.PublicKey {
	x, errX := b64.DecodeString(j.X)
	y, errY := b64.DecodeString(j.Y)
	if j.Kty != "EC" || j.Crv != "P-256" || errX != nil || errY != nil || len(x) != half || len(y) != half {
		return nil
	}
	point := append(append([]byte{4}, x...), y...)
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return nil
	}
	return key
}

// Keys are public keys by their id.
type Keys map[string]*ecdsa.PublicKey

// ParseKeys reads a JWK set, as /.well-known/jwks.json has it. Keys for other
// algorithms are passed over. It returns fault.Invalid for what is no set.
func ParseKeys(text []byte) (Keys, error) {
	var set keySet
	if err := json.Unmarshal(text, &set); err != nil || set.Keys == nil {
		return nil, fault.Wrap(fault.Invalid, err, "the keys are no JWK set")
	}
	keys := Keys{}
	for _, j := range set.Keys {
		if key := j.key(); key != nil && (j.Alg == "" || j.Alg == "ES256") && (j.Use == "" || j.Use == "sig") {
			keys[j.Kid] = key
		}
	}
	return keys, nil
}
