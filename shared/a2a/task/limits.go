package task

import (
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

// How long what callers choose may be, in bytes: it stands beside the task in one
// document, which Firestore ends at 1 MiB, ten hooks included.
const (
	maxName       = 1024 // of messages, contexts and hooks
	maxURL        = 2048
	maxCredential = 8 << 10
)

// short refuses names that are too long.
func short(m *sdk.Message) error {
	if err := within("params.message.messageId", m.ID, maxName); err != nil {
		return err
	}
	return within("params.message.contextId", m.ContextID, maxName)
}

func within(path, text string, most int) error {
	if len(text) > most {
		return fault.New(fault.Invalid, "%s: want at most %d bytes", path, most)
	}
	return nil
}

// sendable refuses a push configuration that no request could carry.
func sendable(c sdk.PushConfig) error {
	if err := within("params.id", c.ID, maxName); err != nil {
		return err
	}
	if err := within("params.url", c.URL, maxURL); err != nil {
		return err
	}
	if err := header("params.token", c.Token); err != nil || c.Auth == nil {
		return err
	}
	if err := header("params.authentication.scheme", c.Auth.Scheme); err != nil {
		return err
	}
	return header("params.authentication.credentials", c.Auth.Credentials)
}

// header refuses what the value of a header cannot be; what it was is not told.
func header(path, text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fault.New(fault.Invalid, "%s: want visible characters of ASCII", path)
	}
	return within(path, text, maxCredential)
}
