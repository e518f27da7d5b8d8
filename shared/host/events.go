package host

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"runtime/debug"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"truecost.dev/shared/fault"
)

// maxEvent bounds the body of an event. Eventarc carries 512 KB at most.
const maxEvent = 1 << 20

// Delivery is a message that Pub/Sub pushed.
type Delivery struct {
	ID         string
	Data       []byte
	Attributes map[string]string
	Attempt    int // 0 where the subscription does not count them
}

// Trigger is an event function: a name, a topic and what to do with a message.
type Trigger struct {
	Name   string // entry point
	Topic  string // Pub/Sub topic id
	Push   Push
	Handle func(ctx context.Context, d Delivery) error
}

// Event returns the CloudEvent function of a trigger, as the functions framework
// registers it. A message that can never be handled is logged and acknowledged;
// any other error asks for redelivery.
func (t Trigger) Event(log *slog.Logger) func(context.Context, cloudevents.Event) error {
	return func(ctx context.Context, e cloudevents.Event) error {
		err := t.handle(ctx, log, e)
		switch {
		case err == nil:
			return nil
		case fault.KindOf(err) == fault.Invalid:
			log.ErrorContext(ctx, "a message that cannot be handled is dropped", slog.String("function", t.Name), slog.String("messageId", e.ID()), slog.Any("error", err))
			return nil
		}
		log.ErrorContext(ctx, "event", slog.String("function", t.Name), slog.String("messageId", e.ID()), slog.Any("error", err))
		// The framework prints errors through a format string, and the cause is
		// logged above: a fixed text goes back.
		return cloudevents.NewHTTPResult(http.StatusServiceUnavailable, "try again")
	}
}

func (t Trigger) handle(ctx context.Context, log *slog.Logger, e cloudevents.Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.ErrorContext(ctx, "panic", slog.String("function", t.Name), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = fault.New(fault.Internal, "internal error")
		}
	}()
	d, err := decodeDelivery(e.ID(), e.Data())
	if err != nil {
		return err
	}
	return t.Handle(ctx, d)
}

func decodeDelivery(id string, body []byte) (Delivery, error) {
	var envelope struct {
		Message struct {
			Data       []byte            `json:"data"`
			Attributes map[string]string `json:"attributes"`
		} `json:"message"`
		Attempt int `json:"deliveryAttempt"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return Delivery{}, fault.Wrap(fault.Invalid, err, "the event is no Pub/Sub message")
	}
	return Delivery{ID: id, Data: envelope.Message.Data, Attributes: envelope.Message.Attributes, Attempt: envelope.Attempt}, nil
}

// Function returns the trigger as an HTTP function that takes CloudEvents in
// binary or structured mode, for whoever hosts it without the framework.
func (t Trigger) Function(log *slog.Logger) Function {
	handle := t.Event(log)
	return Function{Name: t.Name, Kind: Event, Topic: t.Topic, Push: t.Push, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxEvent)
		e, err := cloudevents.NewEventFromHTTPRequest(r)
		if err != nil || e.Validate() != nil {
			http.Error(w, "wanted a CloudEvent", http.StatusBadRequest)
			return
		}
		if err := handle(r.Context(), *e); err != nil {
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})}
}
