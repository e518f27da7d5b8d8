package firestore

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strconv"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"truecost.dev/emulator/firestore/internal/field"
	"truecost.dev/emulator/firestore/internal/resource"
	"truecost.dev/emulator/firestore/internal/store"
	"truecost.dev/emulator/firestore/internal/value"
)

// maxRequest is the largest commit in bytes on the wire.
const maxRequest = 10 << 20

// commit applies writes to one database and counts them for an RPC.
func (s *Server) commit(ctx context.Context, method, database string, writes []*pb.Write, transaction []byte) (*store.Committed, error) {
	if err := inDatabase(database); err != nil {
		return nil, err
	}
	root, _ := resource.Database(database)
	c, err := s.store.Commit(ctx, root, writes, transaction)
	if err != nil {
		return nil, err
	}
	s.counts.add(method, Count{Writes: c.Written, Deletes: c.Deleted})
	return c, nil
}

// Commit implements the RPC.
func (s *service) Commit(ctx context.Context, q *pb.CommitRequest) (*pb.CommitResponse, error) {
	// Only more documents than that could be stored and be too large together.
	if len(q.GetWrites()) > maxRequest/value.MaxDocumentBytes && proto.Size(q) > maxRequest {
		return nil, invalid("Transaction too big. Decrease transaction size.")
	}
	c, err := s.commit(ctx, "Commit", q.GetDatabase(), q.GetWrites(), q.GetTransaction())
	if err != nil {
		return nil, err
	}
	return &pb.CommitResponse{WriteResults: c.Results, CommitTime: value.Time(c.At)}, nil
}

// BatchWrite implements the RPC: each write stands for itself.
func (s *service) BatchWrite(ctx context.Context, q *pb.BatchWriteRequest) (*pb.BatchWriteResponse, error) {
	seen := map[string]bool{}
	for _, w := range q.GetWrites() {
		name := store.DocumentOf(w)
		if seen[name] {
			return nil, invalid("Cannot write to the same document more than once in one batch: " + name)
		}
		seen[name] = true
	}
	out := &pb.BatchWriteResponse{}
	for _, w := range q.GetWrites() {
		result, st := &pb.WriteResult{}, &spb.Status{}
		c, err := s.commit(ctx, "BatchWrite", q.GetDatabase(), []*pb.Write{w}, nil)
		if err != nil {
			st = status.Convert(err).Proto()
		} else {
			result = c.Results[0]
		}
		out.WriteResults = append(out.WriteResults, result)
		out.Status = append(out.Status, st)
	}
	return out, nil
}

// CreateDocument implements the RPC; without an id the document gets one of 20
// random characters.
func (s *service) CreateDocument(ctx context.Context, q *pb.CreateDocumentRequest) (*pb.Document, error) {
	if q.GetDocument() == nil {
		return nil, invalid("A document is required.")
	}
	id := q.GetDocumentId()
	if id == "" {
		id = rand.Text()[:20]
	}
	doc := &pb.Document{Name: q.GetParent() + "/" + q.GetCollectionId() + "/" + id, Fields: q.GetDocument().GetFields()}
	return s.write(ctx, "CreateDocument", doc.GetName(), q.GetMask(), &pb.Write{
		Operation:       &pb.Write_Update{Update: doc},
		CurrentDocument: &pb.Precondition{ConditionType: &pb.Precondition_Exists{Exists: false}},
	})
}

// UpdateDocument implements the RPC.
func (s *service) UpdateDocument(ctx context.Context, q *pb.UpdateDocumentRequest) (*pb.Document, error) {
	return s.write(ctx, "UpdateDocument", q.GetDocument().GetName(), q.GetMask(), &pb.Write{
		Operation:       &pb.Write_Update{Update: q.GetDocument()},
		UpdateMask:      q.GetUpdateMask(),
		CurrentDocument: q.GetCurrentDocument(),
	})
}

// DeleteDocument implements the RPC.
func (s *service) DeleteDocument(ctx context.Context, q *pb.DeleteDocumentRequest) (*emptypb.Empty, error) {
	_, err := s.write(ctx, "DeleteDocument", q.GetName(), nil, &pb.Write{
		Operation:       &pb.Write_Delete{Delete: q.GetName()},
		CurrentDocument: q.GetCurrentDocument(),
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// write commits one write and returns the document as it then is, masked.
func (s *service) write(ctx context.Context, method, name string, mask *pb.DocumentMask, w *pb.Write) (*pb.Document, error) {
	paths, err := field.ParseAll(mask.GetFieldPaths())
	if err != nil {
		return nil, err
	}
	root, _, err := resource.Root(name)
	if err != nil {
		return nil, err
	}
	c, err := s.store.Commit(ctx, root, []*pb.Write{w}, nil)
	if err != nil {
		return nil, err
	}
	s.counts.add(method, Count{Writes: c.Written, Deletes: c.Deleted})
	at, err := s.store.At(c.At)
	if err != nil {
		return nil, err
	}
	return masked(at.Get(name), paths, mask != nil), nil
}

// writeStream is what Write needs of a stream.
type writeStream interface {
	Context() context.Context
	Recv() (*pb.WriteRequest, error)
	Send(*pb.WriteResponse) error
}

// Write implements the RPC: after a first request that names the database, one
// commit and one answer per request, in order. An error ends the stream.
func (s *service) Write(stream pb.Firestore_WriteServer) error {
	return s.writes(stream)
}

func (s *Server) writes(stream writeStream) error {
	database, id := "", rand.Text()
	for n := 0; ; n++ {
		q, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer := &pb.WriteResponse{StreamToken: []byte(strconv.Itoa(n + 1))}
		if n == 0 {
			database, answer.StreamId = q.GetDatabase(), id
			if err := inDatabase(database); err != nil {
				return err
			}
		}
		if n > 0 || len(q.GetWrites()) > 0 {
			c, err := s.commit(stream.Context(), "Write", database, q.GetWrites(), nil)
			if err != nil {
				return err
			}
			answer.WriteResults, answer.CommitTime = c.Results, value.Time(c.At)
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}
