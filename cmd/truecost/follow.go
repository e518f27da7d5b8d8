package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"truecost.dev/shared/fault"
)

const (
	firstLook = 15 * time.Second // within which a listener must have answered once
	quiet     = 3 * time.Second  // without news: look whether the server is still there
)

// open returns a Firestore client of the service. An emulator must be there: the
// client would try again until its deadline.
func (s *service) open(ctx context.Context) (*firestore.Client, error) {
	var opts []option.ClientOption
	if s.Firestore != "" {
		if err := s.alive(ctx, false); err != nil {
			return nil, err
		}
		conn, err := grpc.NewClient(s.Firestore,
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(emulatorOwner{}))
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "the Firestore address %q cannot be read", s.Firestore)
		}
		opts = append(opts, option.WithGRPCConn(conn))
	}
	client, err := firestore.NewClient(ctx, s.Project, opts...)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "no Firestore of project %s", s.Project)
	}
	return client, nil
}

// emulatorOwner is who server clients are to an emulator.
type emulatorOwner struct{}

func (emulatorOwner) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer owner"}, nil
}

func (emulatorOwner) RequireTransportSecurity() bool { return false }

// watch listens to estimates/{id}, gives every version of it to each, and
// returns the one in which the run has ended.
func (s *service) watch(ctx context.Context, id string, each func(*document)) (*document, error) {
	client, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	news := make(chan version)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		listen(ctx, client.Collection("estimates").Doc(id), news)
	}()
	defer func() { cancel(); <-finished }()
	return s.await(ctx, id, news, each)
}

// version is one answer of a listener.
type version struct {
	snap *firestore.DocumentSnapshot
	err  error
}

// listen sends every version of a document until ctx ends or the stream breaks.
func listen(ctx context.Context, ref *firestore.DocumentRef, news chan<- version) {
	versions := ref.Snapshots(ctx)
	defer versions.Stop()
	for {
		snap, err := versions.Next()
		select {
		case news <- version{snap, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (s *service) await(ctx context.Context, id string, news <-chan version, each func(*document)) (*document, error) {
	seen := false
	timer := time.NewTimer(firstLook)
	if s.Firestore != "" {
		timer.Reset(quiet)
	}
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
			if err := s.alive(ctx, seen); err != nil {
				return nil, err
			}
		case v := <-news:
			doc, err := v.document(id, seen)
			if err != nil {
				return nil, err
			}
			seen = true
			each(doc)
			if doc.ended() {
				return doc, nil
			}
		}
		timer.Reset(quiet)
	}
}

// alive tells a quiet run from a server that is gone: the client would try
// again for ever. The real service is only expected to answer once.
func (s *service) alive(ctx context.Context, seen bool) error {
	if s.Firestore == "" {
		if seen {
			return nil
		}
		return fault.New(fault.Unavailable, "Firestore of project %s does not answer", s.Project)
	}
	d := net.Dialer{Timeout: lookTimeout}
	conn, err := d.DialContext(ctx, "tcp", s.Firestore)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "Firestore at %s does not answer", s.Firestore)
	}
	return conn.Close()
}

// document decodes a version; fault.NotFound when the document is not there, or
// no longer.
func (v version) document(id string, seen bool) (*document, error) {
	switch {
	case v.err != nil && (errors.Is(v.err, context.Canceled) || status.Code(v.err) == codes.Canceled):
		return nil, fault.Wrap(fault.Canceled, v.err, "watching %s was canceled", id)
	case v.err != nil && status.Code(v.err) == codes.PermissionDenied:
		return nil, fault.Wrap(fault.Denied, v.err, "estimate %s may not be read", id)
	case v.err != nil:
		return nil, fault.Wrap(fault.Unavailable, v.err, "the listener of %s broke", id)
	case !v.snap.Exists() && seen:
		return nil, &failedError{id: id, status: "deleted"}
	case !v.snap.Exists():
		return nil, fault.New(fault.NotFound, "there is no estimate %s", id)
	}
	doc, err := decodeDocument(id, v.snap.Data())
	if err != nil {
		return nil, fmt.Errorf("estimate %s: %w", id, err)
	}
	return doc, nil
}
