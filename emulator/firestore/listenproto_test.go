package firestore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
)

// transcript describes responses by what matters of them, one line each.
func transcript(t *testing.T, stream pb.Firestore_ListenClient, n int) []string {
	t.Helper()
	var out []string
	for range n {
		m, err := stream.Recv()
		if err != nil {
			t.Fatalf("after %q: %v", out, err)
		}
		out = append(out, line(m))
	}
	return out
}

func line(m *pb.ListenResponse) string {
	short := func(name string) string { return name[strings.LastIndex(name, "/")+1:] }
	switch x := m.GetResponseType().(type) {
	case *pb.ListenResponse_DocumentChange:
		return "change " + short(x.DocumentChange.GetDocument().GetName())
	case *pb.ListenResponse_DocumentDelete:
		return "delete " + short(x.DocumentDelete.GetDocument())
	case *pb.ListenResponse_DocumentRemove:
		return "remove " + short(x.DocumentRemove.GetDocument())
	default:
		c := m.GetTargetChange()
		s := c.GetTargetChangeType().String()
		if len(c.GetTargetIds()) == 0 {
			s += " all"
		}
		if c.GetCause() != nil {
			s += " " + codes.Code(c.GetCause().GetCode()).String()
		}
		return s
	}
}

func TestListenProtocol(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, api := raw(t)
	stream, err := api.Listen(ctx)
	if err != nil {
		t.Fatal(err)
	}
	send := func(q *pb.ListenRequest) {
		t.Helper()
		if err := stream.Send(q); err != nil {
			t.Fatal(err)
		}
	}
	documents := func(id int32, once bool, names ...string) *pb.ListenRequest {
		for i := range names {
			names[i] = defaultDatabase + "/documents/" + names[i]
		}
		return &pb.ListenRequest{Database: defaultDatabase, TargetChange: &pb.ListenRequest_AddTarget{AddTarget: &pb.Target{
			TargetId: id, Once: once, TargetType: &pb.Target_Documents{Documents: &pb.Target_DocumentsTarget{Documents: names}},
		}}}
	}
	commit := func(writes ...*pb.Write) {
		t.Helper()
		if _, err := api.Commit(ctx, &pb.CommitRequest{Database: defaultDatabase, Writes: writes}); err != nil {
			t.Fatal(err)
		}
	}
	set := func(id string, n int64) *pb.Write {
		return &pb.Write{Operation: &pb.Write_Update{Update: &pb.Document{
			Name: defaultDatabase + "/documents/" + id, Fields: map[string]*pb.Value{"n": intValue(n)},
		}}}
	}
	steps := []struct {
		name string
		do   func()
		want []string
	}{
		{
			"documents, one missing", func() { commit(set("c/1", 1)); send(documents(2, false, "c/1", "c/2")) },
			[]string{"ADD", "change 1", "delete 2", "CURRENT", "NO_CHANGE all"},
		},
		{"a change of both", func() { commit(set("c/1", 2), set("c/2", 2)) }, []string{"change 1", "change 2", "NO_CHANGE all"}},
		{"a delete", func() {
			commit(&pb.Write{Operation: &pb.Write_Delete{Delete: defaultDatabase + "/documents/c/2"}})
		}, []string{"delete 2", "NO_CHANGE all"}},
		{"once", func() { send(documents(4, true, "c/1")) }, []string{"ADD", "change 1", "CURRENT", "REMOVE", "NO_CHANGE all"}},
		{"a refused target", func() { send(documents(6, false, "c")) }, []string{"REMOVE InvalidArgument"}},
		{"a query with a limit", func() {
			commit(set("q/1", 1), set("q/2", 2))
			send(&pb.ListenRequest{TargetChange: &pb.ListenRequest_AddTarget{AddTarget: &pb.Target{TargetId: 8, TargetType: &pb.Target_Query{
				Query: &pb.Target_QueryTarget{Parent: defaultDatabase + "/documents", QueryType: &pb.Target_QueryTarget_StructuredQuery{
					StructuredQuery: limited("q", "n", 1),
				}},
			}}}})
		}, []string{"ADD", "change 1", "CURRENT", "NO_CHANGE all"}},
		{"a document pushes another out", func() { commit(set("q/0", 0)) }, []string{"change 0", "remove 1", "NO_CHANGE all"}},
		{"remove", func() {
			send(&pb.ListenRequest{Database: defaultDatabase, TargetChange: &pb.ListenRequest_RemoveTarget{RemoveTarget: 2}})
		}, []string{"REMOVE"}},
		{"a change nobody watches, then one", func() { commit(set("c/1", 3)); commit(set("q/0", -1)) }, []string{"change 0", "NO_CHANGE all"}},
	}
	for _, step := range steps {
		step.do()
		if diff := cmp.Diff(step.want, transcript(t, stream, len(step.want))); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	send(&pb.ListenRequest{Database: defaultDatabase})
	_, err = stream.Recv()
	wantCode(t, "request without a target", err, codes.InvalidArgument)
}
