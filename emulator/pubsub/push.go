package pubsub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
)

// The window of outstanding pushes: it starts at the minimum, grows by one with
// each success (so it doubles with each full round) and halves on a failure.
const (
	minPushWindow = 8
	maxPushWindow = 1000
)

// maxPushAnswer is how much of an answer's body is read to keep the connection.
const maxPushAnswer = 64 << 10

var errAckDeadline = errors.New("ack deadline is over")

// A pusher delivers one push subscription for as long as it is the pusher of
// it. Changing the push config replaces it.
type pusher struct {
	broker   *broker
	sub      *subscription
	endpoint string
	client   *http.Client
	log      *slog.Logger
	holder   holder // its limit is the window
}

// run leases what is due as far as the window lets it. The pushes count in
// inFlight and may outlive run: an answer to one still settles its lease. ctx
// ends them all.
func (p *pusher) run(ctx context.Context, inFlight *sync.WaitGroup) {
	for {
		due, n, ok := p.lease()
		if !ok {
			return
		}
		for _, d := range due {
			inFlight.Go(func() { p.deliver(ctx, d) })
		}
		p.broker.clock.sleep(ctx, n)
	}
}

// lease returns the deliveries that are due and what to wait for after them;
// not ok is the end of the pusher.
func (p *pusher) lease() (due []delivery, n nap, ok bool) {
	var err error // halts the broker too
	defer func() { ok = ok && err == nil }()
	p.broker.mu.Lock()
	defer p.broker.unlock(&err)
	if p.broker.halted || p.sub.pusher != p {
		return nil, nap{}, false
	}
	for e := p.broker.lease(p.sub, &p.holder); e != nil; e = p.broker.lease(p.sub, &p.holder) {
		due = append(due, deliveryOf(p.sub, e))
	}
	return due, p.sub.nap(&p.holder), true
}

// deliver pushes one message and settles it by the answer.
func (p *pusher) deliver(ctx context.Context, d delivery) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer p.broker.clock.after(d.deadline, func() { cancel(errAckDeadline) })()
	err := p.send(ctx, d)
	p.settle(d.ackID, err == nil)
	if err != nil {
		p.log.LogAttrs(ctx, slog.LevelWarn, "push not acknowledged",
			slog.String("subscription", d.subscription), slog.String("message", d.message.MessageId), slog.Any("error", err))
	}
}

func (p *pusher) settle(ackID string, accepted bool) {
	var err error // halts the broker: nobody is there to be told
	p.broker.mu.Lock()
	defer p.broker.unlock(&err)
	if accepted {
		p.holder.maxMessages = min(maxPushWindow, p.holder.maxMessages+1)
		p.broker.acknowledge(p.sub, ackID)
	} else {
		p.holder.maxMessages = max(minPushWindow, p.holder.maxMessages/2)
		p.broker.postpone(p.sub, ackID, 0)
	}
}

func (p *pusher) send(ctx context.Context, d delivery) error {
	r, err := d.request(ctx, p.endpoint)
	if err != nil {
		return err
	}
	answer, err := p.client.Do(r)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return fmt.Errorf("push: %w", cause)
		}
		return err
	}
	defer func() { _ = answer.Body.Close() }()                             // read as far as it matters
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxPushAnswer)) // the status alone decides
	switch answer.StatusCode {
	// 102 counts too, but an HTTP client takes it for the interim answer it is.
	case http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent:
		return nil
	default:
		return fmt.Errorf("push: HTTP %d", answer.StatusCode)
	}
}
