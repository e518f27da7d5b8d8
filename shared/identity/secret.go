package identity

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// variety is how many different bytes a secret has at least. Of the shortest
// random one, 32 hexadecimal digits, fewer than one in a million have so few.
const variety = 8

// wellKnown are parts of secrets that stand in documentation and examples, and
// are long enough otherwise.
var wellKnown = []string{
	"secret", "password", "changeme", "change-me", "change_me", "example", "default", "truecost",
	"0123456789", "abcdefghij", "qwerty",
}

// weakness returns what is wrong with a secret that signs tokens, without showing
// it.
func weakness(secret string) error {
	lower := strings.ToLower(secret)
	bytes := []byte(secret)
	slices.Sort(bytes)
	switch {
	case len(secret) < MinSecret:
		return fmt.Errorf("the secret that signs tokens has %d bytes, and %d are wanted", len(secret), MinSecret)
	case len(slices.Compact(bytes)) < variety, strings.Contains((secret + secret)[1:2*len(secret)-1], secret):
		return errors.New("the secret that signs tokens repeats itself: want a random one")
	case slices.ContainsFunc(wellKnown, func(word string) bool { return strings.Contains(lower, word) }):
		return errors.New("the secret that signs tokens is made of words that stand in examples: want a random one")
	}
	return nil
}
