package card

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/json"
	"math/big"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// Verify proves a card by its signatures and returns what is proven, in
// canonical form and without signatures: the whole card if a signature is over
// all of it, else its members of A2A 1.0. Use what is returned, not the card.
//
// It returns fault.Denied when no signature holds under the keys, and
// fault.Invalid for a card that cannot be read.
func Verify(card []byte, keys Keys) ([]byte, error) {
	top, err := members(card)
	if err != nil {
		return nil, err
	}
	var signatures []sdk.AgentCardSignature
	if raw, err := wire.Compact(top["signatures"]); err != nil || json.Unmarshal(raw, &signatures) != nil {
		return nil, fault.New(fault.Invalid, "signatures: want an array of signatures")
	}
	for _, form := range []canonical{whole, modern} {
		payload, err := form(top)
		if err != nil {
			return nil, err
		}
		for _, s := range signatures {
			if keys.hold(s, payload) {
				return payload, nil
			}
		}
	}
	return nil, fault.New(fault.Denied, "no signature of the card holds")
}

// hold reports whether a signature is one of these keys over the payload.
func (k Keys) hold(s sdk.AgentCardSignature, payload []byte) bool {
	header, err := b64.DecodeString(s.Protected)
	if err != nil {
		return false
	}
	var p struct {
		protected
		Crit json.RawMessage `json:"crit"`
	}
	// What crit names must be understood, and nothing is here.
	if json.Unmarshal(header, &p) != nil || p.Alg != "ES256" || p.Crit != nil {
		return false
	}
	key := k[p.Kid]
	raw, err := b64.DecodeString(s.Signature)
	if key == nil || err != nil || len(raw) != 2*half {
		return false
	}
	sum := sha256.Sum256(signed(s.Protected, payload))
	return ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(raw[:half]), new(big.Int).SetBytes(raw[half:]))
}

func members(card []byte) (map[string]any, error) {
	v, err := parse(card)
	if err != nil {
		return nil, err
	}
	top, ok := v.(map[string]any)
	if !ok {
		return nil, fault.New(fault.Invalid, "a card is an object")
	}
	return top, nil
}

// canonical is a form of a card that signatures are over.
type canonical func(top map[string]any) ([]byte, error)

// whole is the canonical form of all members but signatures.
func whole(top map[string]any) ([]byte, error) {
	rest := map[string]any{}
	for name, v := range top {
		if v, ok := solid(v); ok && name != "signatures" {
			rest[name] = v
		}
	}
	return appendValue(nil, rest), nil
}

// modern is the canonical form of the members that A2A 1.0 knows, but for
// signatures.
func modern(top map[string]any) ([]byte, error) {
	v, ok := cardForm.keep(top)
	if !ok {
		return nil, fault.New(fault.Invalid, "the card has no member of A2A 1.0")
	}
	return appendValue(nil, v), nil
}
