package card

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"truecost.dev/shared/fault"
)

func signedCard(t *testing.T) (card []byte, keys Keys) {
	t.Helper()
	cards, err := New(testAgent(), variants(t)["full"])
	if err != nil {
		t.Fatal(err)
	}
	keys, err = ParseKeys(testKey(t).JWKS())
	if err != nil || len(keys) != 1 {
		t.Fatalf("ParseKeys = %v, %v, want one key", keys, err)
	}
	return cards.Public(), keys
}

// edit returns a card after a change of its members.
func edit(t *testing.T, card []byte, change func(map[string]any)) []byte {
	t.Helper()
	top, err := members(card)
	if err != nil {
		t.Fatal(err)
	}
	change(top)
	return appendValue(nil, top)
}

func TestVerify(t *testing.T) {
	t.Parallel()
	card, keys := signedCard(t)
	other, err := ParseKey([]byte(strings.Join(otherKey, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	strangers, err := ParseKeys(other.JWKS())
	if err != nil {
		t.Fatal(err)
	}
	signature := func(top map[string]any, i int) map[string]any {
		list, _ := top["signatures"].([]any)
		one, _ := list[i].(map[string]any)
		return one
	}
	tests := []struct {
		name    string
		change  func(map[string]any)
		keys    Keys
		kind    fault.Kind
		members string // a member that is proven
		not     string // one that is not
	}{
		{"as it was made", func(map[string]any) {}, keys, "", `"preferredTransport"`, `"signatures"`},
		{"members in another order, empty ones added", func(m map[string]any) { m["iconUrl"], m["notes"] = "", []any{} }, keys, "", `"url":"https://agents.example/a2a_sums"`, "notes"},
		{"the address of 0.3 bent", func(m map[string]any) { m["url"] = "https://evil.example" }, keys, "", `"supportedInterfaces"`, "evil"},
		{"a member of nobody added", func(m map[string]any) { m["bonus"] = "evil" }, keys, "", `"supportedInterfaces"`, "evil"},
		{"the name changed", func(m map[string]any) { m["name"] = "evil" }, keys, fault.Denied, "", ""},
		{"an interface taken away", func(m map[string]any) { m["supportedInterfaces"] = m["supportedInterfaces"].([]any)[1:] }, keys, fault.Denied, "", ""},
		{"the signature over all of it alone", func(m map[string]any) { m["signatures"] = m["signatures"].([]any)[1:] }, keys, "", `"preferredTransport"`, "signatures"},
		{"the signature over 1.0 alone", func(m map[string]any) { m["signatures"] = m["signatures"].([]any)[:1] }, keys, "", `"skills"`, "preferredTransport"},
		{"no signatures", func(m map[string]any) { delete(m, "signatures") }, keys, fault.Denied, "", ""},
		{"signatures of another kind", func(m map[string]any) { m["signatures"] = "yes" }, keys, fault.Invalid, "", ""},
		{"another key", func(map[string]any) {}, strangers, fault.Denied, "", ""},
		{"another key under the name of ours", func(map[string]any) {}, Keys{testKey(t).ID(): strangers[other.ID()]}, fault.Denied, "", ""},
		{"no algorithm", func(m map[string]any) {
			for i := range 2 {
				signature(m, i)["protected"] = b64.EncodeToString([]byte(`{"alg":"none","kid":"` + testKey(t).ID() + `"}`))
			}
		}, keys, fault.Denied, "", ""},
		{"half a signature", func(m map[string]any) {
			for i := range 2 {
				signature(m, i)["signature"] = signature(m, i)["signature"].(string)[:43]
			}
		}, keys, fault.Denied, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Verify(edit(t, card, tt.change), tt.keys)
			if tt.kind != "" {
				if fault.KindOf(err) != tt.kind || got != nil {
					t.Errorf("Verify = %s, %v, want %s", got, err, tt.kind)
				}
				return
			}
			if err != nil || !strings.Contains(string(got), tt.members) || strings.Contains(string(got), tt.not) {
				t.Errorf("Verify = %s, %v, want %s and not %s", got, err, tt.members, tt.not)
			}
		})
	}
}

// Whatever single value of a card is bent, Verify never returns it.
func TestVerifyNoticesEveryChange(t *testing.T) {
	t.Parallel()
	card, keys := signedCard(t)
	top, err := members(card)
	if err != nil {
		t.Fatal(err)
	}
	delete(top, "signatures")
	changes := 0
	for _, path := range leaves(top, nil) {
		bent := edit(t, card, func(m map[string]any) { bend(m, path) })
		got, err := Verify(bent, keys)
		if changes++; err == nil && strings.Contains(string(got), "bent") {
			t.Errorf("%s bent: Verify = %s", strings.Join(path, "."), got)
		}
	}
	if changes < 40 {
		t.Errorf("%d values were bent, want a whole card of them", changes)
	}
}

func leaves(v any, at []string) [][]string {
	switch v := v.(type) {
	case map[string]any:
		var all [][]string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, leaves(v[name], append(slices.Clone(at), name))...)
		}
		return all
	case []any:
		var all [][]string
		for i, e := range v {
			all = append(all, leaves(e, append(slices.Clone(at), string(rune('0'+i))))...)
		}
		return all
	}
	return [][]string{at}
}

func bend(v any, path []string) {
	for _, step := range path[:len(path)-1] {
		if list, ok := v.([]any); ok {
			v = list[step[0]-'0']
			continue
		}
		v = v.(map[string]any)[step]
	}
	last := path[len(path)-1]
	if list, ok := v.([]any); ok {
		list[last[0]-'0'] = "bent"
		return
	}
	v.(map[string]any)[last] = "bent"
}

func TestParseKeyRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"nothing":       "",
		"no PEM":        "hunter2",
		"a certificate": "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n",
		"another curve": strings.Join(p384, "\n"),
		"no key inside": "-----BEGIN EC PRIVATE KEY-----\naHVudGVyMg==\n-----END EC PRIVATE KEY-----\n",
	}
	for name, in := range tests {
		_, err := ParseKey([]byte(in))
		if fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("ParseKey(%s) = %v, want fault.Invalid without the text", name, err)
		}
	}
}

func TestParseKeysPassesOver(t *testing.T) {
	t.Parallel()
	ours := testKey(t).JWKS()
	var set map[string][]any
	if err := json.Unmarshal(ours, &set); err != nil {
		t.Fatal(err)
	}
	set["keys"] = append(set["keys"],
		map[string]any{"kty": "RSA", "kid": "r", "n": "AQAB", "e": "AQAB"},
		map[string]any{"kty": "EC", "crv": "P-256", "kid": "off the curve", "x": strings.Repeat("A", 43), "y": strings.Repeat("A", 43)},
		map[string]any{"kty": "EC", "crv": "P-256", "kid": "short", "x": "AQ", "y": "AQ"})
	raw, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ParseKeys(raw)
	if err != nil || len(keys) != 1 || keys[testKey(t).ID()] == nil {
		t.Errorf("ParseKeys = %v, %v, want ours alone", keys, err)
	}
	for _, in := range []string{``, `[]`, `{}`, `{"keys":1}`} {
		if _, err := ParseKeys([]byte(in)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("ParseKeys(%s) = %v, want fault.Invalid", in, err)
		}
	}
}

// A card of another maker: signed over 1.0 alone, by a key with a name of its own.
func TestVerifyTakesOtherMakers(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	text := []byte(`{"name":"x","capabilities":{"streaming":false,"extensions":[{"uri":"u","required":false}]},"unknown":[1]}`)
	top, err := members(text)
	if err != nil {
		t.Fatal(err)
	}
	payload := []byte(`{"capabilities":{"extensions":[{"uri":"u"}],"streaming":false},"name":"x"}`)
	s, err := key.sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	top["signatures"] = []any{map[string]any{"protected": s.Protected, "signature": s.Signature}}
	got, err := Verify(appendValue(nil, top), Keys{key.ID(): &key.private.PublicKey})
	if err != nil || string(got) != string(payload) {
		t.Errorf("Verify = %s, %v, want %s", got, err, payload)
	}
}

// What decodes cards from outside neither panics nor proves what it was not given.
func FuzzVerify(f *testing.F) {
	keys, err := ParseKeys(testKey(f).JWKS())
	if err != nil {
		f.Fatal(err)
	}
	cards, err := New(testAgent(), Options{URL: "https://agents.example/a2a_sums", Key: testKey(f)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(cards.Public())
	f.Add([]byte(`{"signatures":[{"protected":"e30","signature":""}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := Verify(in, keys)
		if err != nil {
			return
		}
		if want, _ := Verify(cards.Public(), keys); string(got) != string(want) && string(got) != string(onlyModern(t, want)) {
			t.Fatalf("Verify(%s) = %s, which nobody signed", in, got)
		}
	})
}

func onlyModern(t *testing.T, card []byte) []byte {
	t.Helper()
	top, err := members(card)
	if err != nil {
		t.Fatal(err)
	}
	text, err := modern(top)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
