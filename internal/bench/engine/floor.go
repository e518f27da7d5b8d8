package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"cloud.google.com/go/firestore"
	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

const (
	floorName = "floor"
	floorRun  = 15 // steps of a run
)

// floor is the least a durable step can be: one transaction that reads and
// writes one document, one publish.
type floor struct {
	store *firestore.Client
	topic *pubsub.Publisher
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

func connectStore(ctx context.Context, address string) (*firestore.Client, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	return firestore.NewClient(ctx, project, option.WithGRPCConn(conn))
}

func connectTopic(ctx context.Context, address string) (*pubsub.Publisher, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	client, err := pubsub.NewClient(ctx, project, option.WithGRPCConn(conn))
	if err != nil {
		return nil, err
	}
	topic := client.Publisher(floorName)
	topic.PublishSettings.CountThreshold = 1 // as the engine: nothing waits for company
	return topic, nil
}

func publishFloor(ctx context.Context, topic *pubsub.Publisher, m floorMessage) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = topic.Publish(ctx, &pubsub.Message{Data: data}).Get(ctx)
	return err
}

// ServeHTTP takes a push.
func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var push struct {
		Message struct {
			Data []byte `json:"data"`
		} `json:"message"`
	}
	var m floorMessage
	if err := json.NewDecoder(r.Body).Decode(&push); err != nil || json.Unmarshal(push.Message.Data, &m) != nil {
		http.Error(w, "wanted a push", http.StatusBadRequest)
		return
	}
	if err := f.step(r.Context(), m); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
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
	return publishFloor(ctx, f.topic, floorMessage{m.Run, m.Step + 1})
}
