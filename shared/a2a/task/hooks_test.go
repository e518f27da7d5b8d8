package task_test

import (
	"errors"
	"fmt"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

func hookTo(id sdk.TaskID, name, url string) task.Hook {
	return task.Hook{Config: sdk.PushConfig{TaskID: id, ID: name, URL: url, Token: "t"}}
}

func TestHooks(t *testing.T) {
	t.Parallel()
	opt := live()
	opt.Push = true
	d := desk(opt)
	s := message(firstID, "INPUT_REQUIRED")
	s.Hook = new(hookTo("ignored", "", "https://example.com/first"))
	res, err := d.Send(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	id, nobody := res.TaskInfo().TaskID, task.Caller{}
	all, err := d.Hooks(t.Context(), nobody, id)
	if err != nil || len(all) != 1 || all[0].ID == "" || all[0].TaskID != id || all[0].URL != "https://example.com/first" || all[0].Token != "t" {
		t.Fatalf("Hooks() = %+v, %v, want the one that came with the message, with an id", all, err)
	}
	for i := 1; i < task.MaxHooks; i++ {
		if _, err := d.PutHook(t.Context(), nobody, hookTo(id, fmt.Sprint(i), "https://example.com/")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.PutHook(t.Context(), nobody, hookTo(id, "", "https://example.com/")); fault.KindOf(err) != fault.Invalid {
		t.Errorf("PutHook(one too many) = %v, want kind invalid", err)
	}
	got, err := d.PutHook(t.Context(), nobody, hookTo(id, "5", "https://example.com/other"))
	if err != nil || got.URL != "https://example.com/other" {
		t.Errorf("PutHook(5 again) = %+v, %v, want it replaced", got, err)
	}
	if got, err = d.Hook(t.Context(), nobody, id, "5"); err != nil || got.URL != "https://example.com/other" {
		t.Errorf("Hook(5) = %+v, %v, want the later one", got, err)
	}
	for range 2 {
		if err := d.DropHook(t.Context(), nobody, id, "5"); err != nil {
			t.Errorf("DropHook(5) = %v, want no error", err)
		}
	}
	if _, err := d.Hook(t.Context(), nobody, id, "5"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Hook(dropped) = %v, want kind not_found", err)
	}
	if all, err = d.Hooks(t.Context(), nobody, id); err != nil || len(all) != task.MaxHooks-1 {
		t.Errorf("Hooks() = %d, %v, want %d", len(all), err, task.MaxHooks-1)
	}
}

func TestHooksThatAreNotTaken(t *testing.T) {
	t.Parallel()
	opt := live()
	opt.Push = true
	on := desk(opt)
	for url, ok := range map[string]bool{
		"https://example.com/a?b":           true,
		"https://93.184.216.34:8443/":       true,
		"https://[2606:4700::1111]/":        true,
		"http://example.com/":               false,
		"":                                  false,
		"example.com":                       false,
		"https://":                          false,
		"https://user:pw@example.com/":      false,
		"https://localhost/":                false,
		"https://LOCALHOST./":               false,
		"https://a.localhost/":              false,
		"https://printer.local/":            false,
		"https://metadata.google.internal/": false,
		"https://127.0.0.1/":                false,
		"https://10.1.2.3/":                 false,
		"https://169.254.169.254/":          false,
		"https://0.0.0.0/":                  false,
		"https://[::1]/":                    false,
		"https://[::ffff:10.0.0.1]/":        false,
		"https://[fd00::1]/":                false,
		"https://2130706433/":               false,
		"https://127.1/":                    false,
		"https://0x7f.0.0.1/":               false,
		"https://.../":                      false,
	} {
		s := message("1", "COMPLETED")
		s.Hook = new(hookTo("", "", url))
		_, err := on.Send(t.Context(), s)
		if (err == nil) != ok || !ok && fault.KindOf(err) != fault.Invalid {
			t.Errorf("Send(hook at %q) = %v, want taken: %t", url, err, ok)
		}
	}
	off := desk(live())
	s := message("1", "COMPLETED")
	s.Hook = new(hookTo("", "", "https://example.com/"))
	_, err := off.Send(t.Context(), s)
	errs := []error{err}
	_, err = off.PutHook(t.Context(), task.Caller{}, *s.Hook)
	errs = append(errs, err)
	_, err = off.Hook(t.Context(), task.Caller{}, "t", "h")
	errs = append(errs, err)
	_, err = off.Hooks(t.Context(), task.Caller{}, "t")
	errs = append(errs, err, off.DropHook(t.Context(), task.Caller{}, "t", "h"))
	for i, err := range errs {
		if !errors.Is(err, sdk.ErrPushNotificationNotSupported) {
			t.Errorf("call %d without push = %v, want that it is not supported", i, err)
		}
	}
}
