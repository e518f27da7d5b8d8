package main

import (
	"context"
	"encoding/json"
	"fmt"

	"cloud.google.com/go/firestore"
	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"truecost.dev/shared/host"
)

const (
	floorName = "floor"
	floorRun  = 15 // steps of a run
)

// floor is the least a durable step can be: one transaction that reads and
// writes one document, one publish.
type floor struct {
	store *firestore.Client
	topic *floorTopic
	seen  *observer
}

// floorMessage is a step of a floor's run.
type floorMessage struct {
	Run  string `json:"run"`
	Step int    `json:"step"` // from 0
}

func newFloor(ctx context.Context, r engineRole, seen *observer) (*floor, error) {
	store, err := connectStore(ctx, r.Firestore)
	if err != nil {
		return nil, err
	}
	topic, err := connectTopic(ctx, r.PubSub)
	if err != nil {
		return nil, err
	}
	return &floor{store, topic, seen}, nil
}

// owner is the credential of the engine's own clients.
type owner struct{}

func (owner) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer owner"}, nil
}

func (owner) RequireTransportSecurity() bool { return false }

func dial(address string) (option.ClientOption, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(owner{}))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	return option.WithGRPCConn(conn), nil
}

func connectStore(ctx context.Context, address string) (*firestore.Client, error) {
	conn, err := dial(address)
	if err != nil {
		return nil, err
	}
	return firestore.NewClient(ctx, project, conn)
}

// floorTopic takes messages as the engine's bus does, without the goroutines that
// gather batches.
type floorTopic struct {
	client *pubsub.Client
	name   string
}

func connectTopic(ctx context.Context, address string) (*floorTopic, error) {
	conn, err := dial(address)
	if err != nil {
		return nil, err
	}
	client, err := pubsub.NewClient(ctx, project, conn)
	if err != nil {
		return nil, err
	}
	return &floorTopic{client, client.Publisher(floorName).String()}, nil
}

func (t *floorTopic) publish(ctx context.Context, m floorMessage) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = t.client.TopicAdminClient.Publish(ctx, &pubsubpb.PublishRequest{Topic: t.name, Messages: []*pubsubpb.PubsubMessage{{Data: data}}})
	return err
}

// trigger puts the floor where the engine's functions are: behind a subscription
// like that of the steps, and the same reading of what it pushes.
func (f *floor) trigger(push host.Push) host.Trigger {
	return host.Trigger{Name: floorName, Topic: floorName, Push: push, Handle: func(ctx context.Context, d host.Delivery) error {
		var m floorMessage
		if err := json.Unmarshal(d.Data, &m); err != nil {
			return err
		}
		return f.step(ctx, m)
	}}
}

func (f *floor) step(ctx context.Context, m floorMessage) error {
	ref := f.store.Doc("floor/" + m.Run)
	moved := false
	err := f.store.RunTransaction(ctx, func(_ context.Context, tx *firestore.Transaction) error {
		at := int64(0)
		doc, err := tx.Get(ref)
		switch {
		case status.Code(err) == codes.NotFound:
		case err != nil:
			return err
		default:
			at, _ = doc.Data()["step"].(int64)
		}
		if moved = int(at) == m.Step; !moved {
			return nil
		}
		return tx.Set(ref, map[string]any{"step": at + 1})
	})
	if err != nil || !moved {
		return err
	}
	end := m.Step+1 == floorRun
	f.seen.recorded(m.Run, false, end)
	if end {
		return nil
	}
	return f.topic.publish(ctx, floorMessage{m.Run, m.Step + 1})
}
