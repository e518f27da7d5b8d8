package pubsub

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// messagePublished is the type of the CloudEvent that carries a message.
const messagePublished = "google.cloud.pubsub.topic.v1.messagePublished"

// An envelope is the body of a push. Ids and times stand in it twice because
// consumers in the field read either spelling.
type envelope struct {
	Message         envelopeMessage `json:"message"`
	Subscription    string          `json:"subscription"`
	DeliveryAttempt int             `json:"deliveryAttempt,omitempty"` // only with a dead-letter policy
}

type envelopeMessage struct {
	Data             []byte            `json:"data"`
	Attributes       map[string]string `json:"attributes,omitempty"`
	MessageID        string            `json:"messageId"`
	MessageIDSnake   string            `json:"message_id"`
	PublishTime      string            `json:"publishTime"`
	PublishTimeSnake string            `json:"publish_time"`
	OrderingKey      string            `json:"orderingKey,omitempty"`
}

// A delivery is what a subscriber is told of a lease: a copy, so that it can
// be read without the lock.
type delivery struct {
	ackID        string
	subscription string
	topic        string
	message      *pubsubpb.PubsubMessage
	deadline     time.Time
	attempt      int // 0 without a dead-letter policy
}

func deliveryOf(s *subscription, e *entry) delivery {
	d := delivery{ackID: e.ackID, subscription: s.config.Name, topic: e.record.topic, message: e.record.message, deadline: e.at}
	if s.config.DeadLetterPolicy != nil {
		d.attempt = e.attempt
	}
	return d
}

// request returns d as an HTTP push: a CloudEvent in binary mode, as the
// trigger of a function delivers it.
func (d delivery) request(ctx context.Context, endpoint string) (*http.Request, error) {
	at := stamp(d.message)
	data := d.message.Data
	if data == nil {
		data = []byte{} // "" in JSON, not null
	}
	body, err := json.Marshal(envelope{
		Message: envelopeMessage{
			Data: data, Attributes: d.message.Attributes, OrderingKey: d.message.OrderingKey,
			MessageID: d.message.MessageId, MessageIDSnake: d.message.MessageId,
			PublishTime: at, PublishTimeSnake: at,
		},
		Subscription:    d.subscription,
		DeliveryAttempt: d.attempt,
	})
	if err != nil {
		return nil, fmt.Errorf("encode message %s: %w", d.message.MessageId, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("push message %s to %s: %w", d.message.MessageId, endpoint, err)
	}
	r.Header = http.Header{
		"Content-Type":   {"application/json"},
		"Ce-Specversion": {"1.0"},
		"Ce-Id":          {d.message.MessageId},
		"Ce-Type":        {messagePublished},
		"Ce-Source":      {"//pubsub.googleapis.com/" + d.topic},
		"Ce-Time":        {at},
	}
	return r, nil
}

// deadLetter returns the copy of a message that goes to the dead-letter topic:
// the same message with four more attributes that say where it comes from.
func deadLetter(subscription string, e *entry) *pubsubpb.PubsubMessage {
	m := e.record.message
	attributes := map[string]string{
		"CloudPubSubDeadLetterSourceSubscription":        path.Base(subscription),
		"CloudPubSubDeadLetterSourceSubscriptionProject": strings.Split(subscription, "/")[1],
		"CloudPubSubDeadLetterSourceDeliveryCount":       strconv.Itoa(e.attempt),
		"CloudPubSubDeadLetterSourceTopicPublishTime":    stamp(m),
	}
	for k, v := range m.Attributes {
		if _, ours := attributes[k]; !ours {
			attributes[k] = v
		}
	}
	return &pubsubpb.PubsubMessage{Data: m.Data, OrderingKey: m.OrderingKey, Attributes: attributes}
}

func stamp(m *pubsubpb.PubsubMessage) string {
	return m.PublishTime.AsTime().Format(time.RFC3339Nano)
}
