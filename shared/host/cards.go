package host

import (
	"sync"

	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/a2a/task"
)

// cards makes the cards of an agent when they are first asked for.
func (e Env) cards(made func() task.Agent) func() (*card.Cards, error) {
	return sync.OnceValues(func() (*card.Cards, error) {
		a := made()
		var opt card.Options
		if e.Cards != nil {
			var err error
			if opt, err = e.Cards(); err != nil {
				return nil, err
			}
		}
		opt.URL, opt.Push, opt.Extended = e.url(a.Name), e.Webhooks != nil, true
		opt.Limits = card.Limits{BodyBytes: maxBody, Deadline: e.AgentTime}
		if a.Deadline > 0 {
			opt.Limits.Deadline = a.Deadline
		}
		return card.New(a, opt)
	})
}
