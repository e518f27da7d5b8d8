package task

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

var (
	errNoPush = fault.Wrap(fault.Invalid, sdk.ErrPushNotificationNotSupported, "push notifications are not supported")
	errNoHook = fault.Wrap(fault.NotFound, sdk.ErrTaskNotFound, "no such push configuration")
)

// PutHook keeps a push configuration of a task; one with the same id is replaced,
// one without gets an id. Its receiver is told what happens from now on.
func (d *Desk) PutHook(ctx context.Context, c Caller, h Hook) (*sdk.PushConfig, error) {
	if err := d.admitHook(ctx, h); err != nil {
		return nil, err
	}
	if h.Config.ID == "" {
		h.Config.ID = d.opt.NewID()
	}
	r, err := d.change(ctx, c, h.Config.TaskID, func(r *Record) ([]Entry, error) {
		return nil, d.hang(r, &h, r.Seq)
	})
	if err != nil {
		return nil, err
	}
	return configOf(r, h.Config.ID)
}

// Hook returns a push configuration of a task.
func (d *Desk) Hook(ctx context.Context, c Caller, task sdk.TaskID, id string) (*sdk.PushConfig, error) {
	r, err := d.hooked(ctx, c, task)
	if err != nil {
		return nil, err
	}
	return configOf(r, id)
}

// Hooks returns all push configurations of a task, oldest first.
func (d *Desk) Hooks(ctx context.Context, c Caller, task sdk.TaskID) ([]*sdk.PushConfig, error) {
	r, err := d.hooked(ctx, c, task)
	if err != nil {
		return nil, err
	}
	all := make([]*sdk.PushConfig, len(r.Hooks))
	for i, h := range r.Hooks {
		all[i] = &h.Config
	}
	return all, nil
}

// DropHook removes a push configuration; one that is not there is no error.
func (d *Desk) DropHook(ctx context.Context, c Caller, task sdk.TaskID, id string) error {
	if !d.opt.Push {
		return errNoPush
	}
	_, err := d.change(ctx, c, task, func(r *Record) ([]Entry, error) {
		before := len(r.Hooks)
		r.Hooks = slices.DeleteFunc(slices.Clone(r.Hooks), func(h Hook) bool { return h.Config.ID == id })
		if len(r.Hooks) == before {
			return nil, errAsItIs
		}
		return nil, nil
	})
	return err
}

func (d *Desk) hooked(ctx context.Context, c Caller, task sdk.TaskID) (Record, error) {
	if !d.opt.Push {
		return Record{}, errNoPush
	}
	_, r, err := d.find(ctx, c, task)
	return r, err
}

func configOf(r Record, id string) (*sdk.PushConfig, error) {
	i := slices.IndexFunc(r.Hooks, func(h Hook) bool { return h.Config.ID == id })
	if i < 0 {
		return nil, errNoHook
	}
	return &r.Hooks[i].Config, nil
}

// admitHook refuses a push configuration whatever its task.
func (d *Desk) admitHook(ctx context.Context, h Hook) error {
	if !d.opt.Push {
		return errNoPush
	}
	if err := sendable(h.Config); err != nil {
		return err
	}
	return d.opt.Allow(ctx, h.Config.URL)
}

// hang adds a hook to a record, to be told what comes after an event. Hooks are
// at most MaxHooks, and one with the id of another replaces it.
func (d *Desk) hang(r *Record, h *Hook, after int64) error {
	if h == nil {
		return nil
	}
	own := *h
	own.Sent, own.Failures, own.Config.TaskID = after, 0, r.ID
	if own.Config.ID == "" {
		own.Config.ID = d.opt.NewID()
	}
	r.Hooks = slices.Clone(r.Hooks)
	i := slices.IndexFunc(r.Hooks, func(h Hook) bool { return h.Config.ID == own.Config.ID })
	switch {
	case i >= 0:
		r.Hooks[i] = own
	case len(r.Hooks) >= MaxHooks:
		return fault.New(fault.Invalid, "params.taskId: the task has %d push configurations and takes no more", MaxHooks)
	default:
		r.Hooks = append(r.Hooks, own)
	}
	return nil
}

// public allows https at addresses that are not plainly private. What a name
// stands for is only known when it is dialed, and is looked at then.
func public(_ context.Context, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return fault.New(fault.Invalid, "params.url: want an absolute https URL")
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	addr, err := netip.ParseAddr(host)
	if err == nil && addr.Unmap().IsGlobalUnicast() && !addr.Unmap().IsPrivate() || err != nil && publicName(host) {
		return nil
	}
	return fault.New(fault.Invalid, "params.url: want a public address")
}

// publicName reports whether a name of a host may be one of the internet: it has
// a domain, which is none that stands for one's own network, and is no number.
func publicName(host string) bool {
	_, domain, ok := strings.Cut(host, ".")
	top := domain[strings.LastIndexByte(domain, '.')+1:]
	return ok && top != "" && (top[0] < '0' || '9' < top[0]) && !slices.Contains([]string{"local", "internal", "localhost"}, top)
}
