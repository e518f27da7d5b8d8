package firestore

import (
	"context"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/internal/field"
	"truecost.dev/emulator/firestore/internal/resource"
	"truecost.dev/emulator/firestore/internal/store"
	"truecost.dev/emulator/firestore/internal/value"
)

// GetDocument implements the RPC.
func (s *service) GetDocument(ctx context.Context, q *pb.GetDocumentRequest) (*pb.Document, error) {
	mask, err := field.ParseAll(q.GetMask().GetFieldPaths())
	if err != nil {
		return nil, err
	}
	if err := resource.CheckDocument(q.GetName()); err != nil {
		return nil, err
	}
	r, err := s.store.Reader(store.Selector{Transaction: q.GetTransaction(), ReadTime: q.GetReadTime()})
	if err != nil {
		return nil, err
	}
	docs, err := r.Documents(ctx, []string{q.GetName()})
	if err != nil {
		return nil, err
	}
	s.counts.add("GetDocument", Count{Reads: 1})
	if docs[0] == nil {
		return nil, status.Error(codes.NotFound, "Document \""+q.GetName()+"\" not found.")
	}
	return masked(docs[0], mask, q.GetMask() != nil), nil
}

// BatchGetDocuments implements the RPC. Documents come in the order asked for.
func (s *service) BatchGetDocuments(q *pb.BatchGetDocumentsRequest, stream pb.Firestore_BatchGetDocumentsServer) error {
	mask, err := field.ParseAll(q.GetMask().GetFieldPaths())
	if err != nil {
		return err
	}
	if err := inDatabase(q.GetDatabase(), q.GetDocuments()...); err != nil {
		return err
	}
	for _, name := range q.GetDocuments() {
		if err := resource.CheckDocument(name); err != nil {
			return err
		}
	}
	r, err := s.store.Reader(store.Selector{
		Transaction: q.GetTransaction(), New: q.GetNewTransaction(), ReadTime: q.GetReadTime(),
	})
	if err != nil {
		return err
	}
	docs, err := r.Documents(stream.Context(), q.GetDocuments())
	if err != nil {
		return err
	}
	s.counts.add("BatchGetDocuments", Count{Reads: len(docs)})
	if r.Begun != nil {
		if err := stream.Send(&pb.BatchGetDocumentsResponse{Transaction: r.Begun}); err != nil {
			return err
		}
	}
	at := value.Time(r.Time())
	for i, d := range docs {
		m := &pb.BatchGetDocumentsResponse{ReadTime: at}
		if d == nil {
			m.Result = &pb.BatchGetDocumentsResponse_Missing{Missing: q.GetDocuments()[i]}
		} else {
			m.Result = &pb.BatchGetDocumentsResponse_Found{Found: masked(d, mask, q.GetMask() != nil)}
		}
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	return nil
}
