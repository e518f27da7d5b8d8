package boot

import "log/slog"

// Secret is a text that no log, error or dump shows.
type Secret string

const redacted = "[redacted]"

// String hides the text from every verb that prints.
func (Secret) String() string { return redacted }

// GoString hides it from %#v.
func (Secret) GoString() string { return redacted }

// LogValue hides it from logs.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides it from JSON and its like.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
