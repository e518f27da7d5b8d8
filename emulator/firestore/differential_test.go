package firestore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	fsemu "truecost.dev/emulator/firestore"
)

// TestSameAsOfficialEmulator runs random operations on this server and on the
// official emulator and compares every result and every error code.
func TestSameAsOfficialEmulator(t *testing.T) {
	t.Parallel()
	theirs := &side{api: pb.NewFirestoreClient(official(t))}
	server := fsemu.New(fsemu.Options{})
	t.Cleanup(func() { _ = server.Close() })
	conn, err := server.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ours := &side{api: pb.NewFirestoreClient(conn)}

	const rounds, steps = 15, 120
	for round := range rounds {
		g := &generator{Rand: rand.New(rand.NewPCG(31, uint64(round))), database: fmt.Sprintf("projects/truecost/databases/d%d", round)}
		ours.reset()
		theirs.reset()
		for step := range steps {
			op := g.operation()
			got, want := ours.do(t.Context(), op), theirs.do(t.Context(), op)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("round %d step %d: %s\n(-official +ours)\n%s\nmessages: official %q, ours %q",
					round, step, describe(op), diff, theirs.message, ours.message)
				break // the two have parted; the next round has a database of its own
			}
		}
	}
}

// side is one of the two servers. Times differ between them, so answers carry
// the number of the time in the order in which the server first showed it.
type side struct {
	api     pb.FirestoreClient
	times   map[int64]int
	byIndex []*timestamppb.Timestamp
	updates map[string][]*timestamppb.Timestamp // by document, oldest first
	message string                              // of the last error
}

func (s *side) reset() {
	s.times, s.byIndex, s.updates = map[int64]int{}, nil, map[string][]*timestamppb.Timestamp{}
}

func (s *side) index(t *timestamppb.Timestamp) int {
	us := t.AsTime().UnixMicro()
	i, ok := s.times[us]
	if !ok {
		i = len(s.byIndex)
		s.times[us] = i
		s.byIndex = append(s.byIndex, t)
	}
	return i
}

// do runs a request and returns a readable form of its outcome.
func (s *side) do(ctx context.Context, req proto.Message) []string {
	out, err := s.call(ctx, proto.Clone(req))
	s.message = ""
	if err != nil {
		s.message = status.Convert(err).Message()
		return append(out, status.Code(err).String())
	}
	return append(out, codes.OK.String())
}

func (s *side) call(ctx context.Context, req proto.Message) ([]string, error) {
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer owner")
	switch q := req.(type) {
	case *pb.CommitRequest:
		return s.commit(ctx, q)
	case *pb.GetDocumentRequest:
		d, err := s.api.GetDocument(ctx, q)
		if err != nil {
			return nil, err
		}
		return []string{s.document(d)}, nil
	case *pb.ListDocumentsRequest:
		r, err := s.api.ListDocuments(ctx, q)
		var out []string
		for _, d := range r.GetDocuments() {
			if q.GetShowMissing() && len(d.GetFields()) == 0 {
				d.UpdateTime = nil // the official emulator gives missing documents the times of their tombstones
			}
			out = append(out, s.document(d))
		}
		return out, err
	case *pb.RunQueryRequest:
		return s.query(ctx, q)
	case *pb.RunAggregationQueryRequest:
		stream, err := s.api.RunAggregationQuery(ctx, q)
		if err != nil {
			return nil, err
		}
		r, err := stream.Recv()
		return []string{protojson.Format(&pb.MapValue{Fields: r.GetResult().GetAggregateFields()})}, err
	default:
		return nil, fmt.Errorf("no call for %T", req)
	}
}

func (s *side) commit(ctx context.Context, q *pb.CommitRequest) ([]string, error) {
	for _, w := range q.GetWrites() { // a number stands for a time of this side
		c, ok := w.GetCurrentDocument().GetConditionType().(*pb.Precondition_UpdateTime)
		if !ok {
			continue
		}
		if known := s.updates[documentOf(w)]; len(known) > 0 {
			c.UpdateTime = known[max(0, len(known)-int(c.UpdateTime.GetSeconds()))]
		}
	}
	r, err := s.api.Commit(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, w := range r.GetWriteResults() {
		line := "deleted"
		if w.GetUpdateTime() != nil {
			name := documentOf(q.GetWrites()[i])
			s.updates[name] = append(s.updates[name], w.GetUpdateTime())
			line = fmt.Sprintf("updated at %d", s.index(w.GetUpdateTime()))
		}
		for _, v := range w.GetTransformResults() {
			line += " " + text(v)
		}
		out = append(out, line)
	}
	return out, nil
}

func documentOf(w *pb.Write) string { return w.GetUpdate().GetName() + w.GetDelete() }

func (s *side) query(ctx context.Context, q *pb.RunQueryRequest) ([]string, error) {
	stream, err := s.api.RunQuery(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []string
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if m.GetDocument() != nil {
			out = append(out, s.document(m.GetDocument()))
		}
	}
}

func (s *side) document(d *pb.Document) string {
	line := d.GetName() + " " + text(&pb.Value{ValueType: &pb.Value_MapValue{MapValue: &pb.MapValue{Fields: d.GetFields()}}})
	if d.GetUpdateTime() != nil {
		line += fmt.Sprintf(" created %d updated %d", s.index(d.GetCreateTime()), s.index(d.GetUpdateTime()))
	}
	return line
}

// text prints a value in a stable form; protojson adds random spaces.
func text(v proto.Message) string {
	return strings.ReplaceAll(protojson.MarshalOptions{}.Format(v), " ", "")
}

func describe(m proto.Message) string {
	return fmt.Sprintf("%T %s", m, protojson.Format(m))
}
