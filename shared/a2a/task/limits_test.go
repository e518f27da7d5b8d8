package task_test

import (
	"strings"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// What callers choose has an end, and a hook that nobody could be told of is
// refused when it is made, without a word of its secrets.
func TestNamesThatAreTooLong(t *testing.T) {
	t.Parallel()
	opt := live()
	opt.Push = true
	d := desk(opt)
	long := func(n int) string { return strings.Repeat("s3cret-", n/7+1)[:n] }
	tests := []struct {
		name string
		edit func(s *task.Send)
		want string // the member at fault; empty: none
	}{
		{"all as long as can be", func(s *task.Send) {
			s.Message.ID, s.Message.ContextID = long(1024), long(1024)
			s.Hook.Config = sdk.PushConfig{
				ID: long(1024), Token: long(8 << 10), URL: "https://example.com/" + long(2028),
				Auth: &sdk.PushAuthInfo{Scheme: "Bearer", Credentials: long(8 << 10)},
			}
		}, ""},
		{"id of a message", func(s *task.Send) { s.Message.ID = long(1025) }, "params.message.messageId: "},
		{"id of a context", func(s *task.Send) { s.Message.ContextID = long(1025) }, "params.message.contextId: "},
		{"id of a hook", func(s *task.Send) { s.Hook.Config.ID = long(1025) }, "params.id: "},
		{"address", func(s *task.Send) { s.Hook.Config.URL += long(2048) }, "params.url: "},
		{"token", func(s *task.Send) { s.Hook.Config.Token = long(8<<10 + 1) }, "params.token: "},
		{"token of two lines", func(s *task.Send) { s.Hook.Config.Token = "s3cret\r\nX: y" }, "params.token: "},
		{"token beyond ASCII", func(s *task.Send) { s.Hook.Config.Token = "s3cret\u00e9" }, "params.token: "},
		{"scheme", func(s *task.Send) { s.Hook.Config.Auth = &sdk.PushAuthInfo{Scheme: "s3cret\n"} }, "params.authentication.scheme: "},
		{"credentials", func(s *task.Send) {
			s.Hook.Config.Auth = &sdk.PushAuthInfo{Scheme: "Bearer", Credentials: "s3cret\x00"}
		}, "params.authentication.credentials: "},
	}
	for _, tt := range tests {
		s := message("m", "COMPLETED")
		s.Hook = &task.Hook{Config: sdk.PushConfig{URL: "https://example.com/"}}
		tt.edit(&s)
		_, err := d.Send(t.Context(), s)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: Send() = %v, want no error", tt.name, err)
			}
			continue
		}
		if fault.KindOf(err) != fault.Invalid || !strings.HasPrefix(fault.Public(err), tt.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: Send() = %v, want kind invalid about %s", tt.name, err, tt.want)
		}
	}
}
