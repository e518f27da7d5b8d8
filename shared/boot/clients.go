package boot

import (
	"context"
	"fmt"

	"cloud.google.com/go/firestore"
	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// owner is the credential that emulators take for an administrator.
type owner struct{}

func (owner) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer owner"}, nil
}

func (owner) RequireTransportSecurity() bool { return false }

// emulated returns client options for an emulator at host. The address is given
// explicitly, not through the environment, so that one process can talk to
// several.
func emulated(host string) ([]option.ClientOption, error) {
	conn, err := grpc.NewClient(host, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(owner{}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", host, err)
	}
	return []option.ClientOption{option.WithGRPCConn(conn)}, nil
}

func openFirestore(ctx context.Context, c Config) (*firestore.Client, error) {
	var opts []option.ClientOption
	if c.FirestoreHost != "" {
		var err error
		if opts, err = emulated(c.FirestoreHost); err != nil {
			return nil, err
		}
	}
	client, err := firestore.NewClient(ctx, c.Project, opts...)
	if err != nil {
		return nil, fmt.Errorf("open Firestore of %s: %w", c.Project, err)
	}
	return client, nil
}

func openPubSub(ctx context.Context, c Config) (*pubsub.Client, error) {
	var opts []option.ClientOption
	if c.PubSubHost != "" {
		var err error
		if opts, err = emulated(c.PubSubHost); err != nil {
			return nil, err
		}
	}
	client, err := pubsub.NewClient(ctx, c.Project, opts...)
	if err != nil {
		return nil, fmt.Errorf("open Pub/Sub of %s: %w", c.Project, err)
	}
	return client, nil
}
