package firestore

import (
	"context"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"truecost.dev/emulator/firestore/internal/query"
	"truecost.dev/emulator/firestore/internal/store"
	"truecost.dev/emulator/firestore/internal/value"
)

// RunQuery implements the RPC. An empty result is one message with the read
// time.
func (s *service) RunQuery(q *pb.RunQueryRequest, stream pb.Firestore_RunQueryServer) error {
	if q.GetExplainOptions() != nil {
		return status.Error(codes.Unimplemented, "explain_options is not supported by this emulator")
	}
	compiled, err := query.Compile(q.GetParent(), q.GetStructuredQuery())
	if err != nil {
		return err
	}
	r, err := s.store.Reader(store.Selector{
		Transaction: q.GetTransaction(), New: q.GetNewTransaction(), ReadTime: q.GetReadTime(),
	})
	if err != nil {
		return err
	}
	docs, err := r.Query(stream.Context(), compiled.Run)
	if err != nil {
		return err
	}
	s.counts.add("RunQuery", Count{Reads: len(docs)})
	if r.Begun != nil {
		if err := stream.Send(&pb.RunQueryResponse{Transaction: r.Begun}); err != nil {
			return err
		}
	}
	at := value.Time(r.Time())
	if len(docs) == 0 {
		return stream.Send(&pb.RunQueryResponse{ReadTime: at})
	}
	for _, d := range docs {
		if err := stream.Send(&pb.RunQueryResponse{Document: compiled.Project(d), ReadTime: at}); err != nil {
			return err
		}
	}
	return nil
}

// RunAggregationQuery implements the RPC. It counts as one read, however many
// documents it looks at.
func (s *service) RunAggregationQuery(q *pb.RunAggregationQueryRequest, stream pb.Firestore_RunAggregationQueryServer) error {
	if q.GetExplainOptions() != nil {
		return status.Error(codes.Unimplemented, "explain_options is not supported by this emulator")
	}
	compiled, err := query.CompileAggregation(q.GetParent(), q.GetStructuredAggregationQuery())
	if err != nil {
		return err
	}
	r, err := s.store.Reader(store.Selector{
		Transaction: q.GetTransaction(), New: q.GetNewTransaction(), ReadTime: q.GetReadTime(),
	})
	if err != nil {
		return err
	}
	docs, err := r.Query(stream.Context(), compiled.Query.Run)
	if err != nil {
		return err
	}
	s.counts.add("RunAggregationQuery", Count{Reads: 1})
	return stream.Send(&pb.RunAggregationQueryResponse{
		Result:      &pb.AggregationResult{AggregateFields: compiled.Run(docs)},
		Transaction: r.Begun,
		ReadTime:    value.Time(r.Time()),
	})
}

// BeginTransaction implements the RPC.
func (s *service) BeginTransaction(_ context.Context, q *pb.BeginTransactionRequest) (*pb.BeginTransactionResponse, error) {
	if err := inDatabase(q.GetDatabase()); err != nil {
		return nil, err
	}
	id, err := s.store.Begin(q.GetOptions())
	if err != nil {
		return nil, err
	}
	return &pb.BeginTransactionResponse{Transaction: id}, nil
}

// Rollback implements the RPC.
func (s *service) Rollback(_ context.Context, q *pb.RollbackRequest) (*emptypb.Empty, error) {
	if err := s.store.Rollback(q.GetTransaction()); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}
