package callable

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"truecost.dev/shared/fault"
)

// maxSubject is how long a user id may be, in bytes.
const maxSubject = 128

// UnsignedVerifier takes the unsigned tokens (alg none) that the Firebase SDKs
// and the Auth emulator make, and returns their subject. It is for the local
// system alone: anybody can write such a token. The expiry is ignored, for the
// SDKs make mock tokens that expired in 1970. It returns fault.Unknown for a
// signed token and for anything else.
func UnsignedVerifier(_ context.Context, token string) (uid string, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || parts[2] != "" {
		return "", fault.New(fault.Unknown, "the token is no unsigned token")
	}
	var header struct {
		Alg string `json:"alg"`
	}
	var claims struct {
		Sub string `json:"sub"`
	}
	if err := decodeSegment(parts[0], &header); err != nil {
		return "", fault.Wrap(fault.Unknown, err, "the header of the token cannot be read")
	}
	if header.Alg != "none" {
		return "", fault.New(fault.Unknown, "the token says it is signed, and is not")
	}
	if err := decodeSegment(parts[1], &claims); err != nil {
		return "", fault.Wrap(fault.Unknown, err, "the claims of the token cannot be read")
	}
	if claims.Sub == "" || len(claims.Sub) > maxSubject {
		return "", fault.New(fault.Unknown, "the token names no user")
	}
	return claims.Sub, nil
}

func decodeSegment(segment string, into any) error {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(segment, "="))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
