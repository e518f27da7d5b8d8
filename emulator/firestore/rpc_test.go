package firestore_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"cloud.google.com/go/firestore"
	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/api/iterator"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"truecost.dev/emulator/firestore/firestoretest"
)

// limited is a query for the first n documents of a collection by a field.
func limited(collection, by string, n int32) *pb.StructuredQuery {
	return &pb.StructuredQuery{
		From:    []*pb.StructuredQuery_CollectionSelector{{CollectionId: collection}},
		OrderBy: []*pb.StructuredQuery_Order{{Field: &pb.StructuredQuery_FieldReference{FieldPath: by}}},
		Limit:   wrapperspb.Int32(n),
	}
}

func TestIterators(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), firestoretest.Client(t)
	bulk := c.BulkWriter(ctx)
	for i := range 30 {
		if _, err := bulk.Set(c.Doc(fmt.Sprintf("c/%02d/items/x", i)), map[string]any{"n": i}); err != nil {
			t.Fatal(err)
		}
	}
	bulk.End()
	if _, err := c.Doc("c/05").Set(ctx, map[string]any{"n": 5}); err != nil {
		t.Fatal(err)
	}
	refs, err := c.Collection("c").DocumentRefs(ctx).GetAll() // also the missing ones
	if err != nil || len(refs) != 30 {
		t.Errorf("DocumentRefs() = %d, %v, want 30", len(refs), err)
	}
	docs, err := c.Collection("c").Documents(ctx).GetAll()
	if err != nil || len(docs) != 1 {
		t.Errorf("Documents() = %d, %v, want 1", len(docs), err)
	}
	group := c.CollectionGroup("items").Where("n", ">=", 10).OrderBy("n", firestore.Desc).Limit(3).Documents(ctx)
	defer group.Stop()
	var got []int64
	for {
		d, err := group.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d.Data()["n"].(int64))
	}
	if want := []int64{29, 28, 27}; !slices.Equal(got, want) {
		t.Errorf("collection group = %v, want %v", got, want)
	}
	cols, err := c.Doc("c/07").Collections(ctx).GetAll()
	if err != nil || len(cols) != 1 || cols[0].ID != "items" {
		t.Errorf("Collections() = %v, %v, want items", cols, err)
	}
	sum, err := c.CollectionGroup("items").NewAggregationQuery().WithCount("count").WithSum("n", "sum").Get(ctx)
	if err != nil || sum["count"].(*pb.Value).GetIntegerValue() != 30 || sum["sum"].(*pb.Value).GetIntegerValue() != 435 {
		t.Errorf("aggregation = %v, %v, want 30 and 435", sum, err)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	_, api := raw(t)
	root := defaultDatabase + "/documents"
	for _, id := range []string{"b", "__id10__", "a", "__id9__"} {
		_, err := api.CreateDocument(t.Context(), &pb.CreateDocumentRequest{Parent: root, CollectionId: "c", DocumentId: id, Document: &pb.Document{}})
		wantCode(t, "CreateDocument "+id, err, codes.OK)
	}
	var got []string
	for token := ""; ; {
		r, err := api.ListDocuments(t.Context(), &pb.ListDocumentsRequest{Parent: root, CollectionId: "c", PageSize: 3, PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.GetDocuments() {
			got = append(got, d.GetName()[len(root+"/c/"):])
		}
		if token = r.GetNextPageToken(); token == "" {
			break
		}
		got = append(got, "|")
	}
	if want := []string{"__id9__", "__id10__", "a", "|", "b"}; !slices.Equal(got, want) {
		t.Errorf("pages = %q, want %q", got, want)
	}
	_, err := api.ListDocuments(t.Context(), &pb.ListDocumentsRequest{Parent: root, CollectionId: "c", PageToken: "%"})
	wantCode(t, "ListDocuments with a bad token", err, codes.InvalidArgument)
}

func TestSingleDocumentCalls(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, api := raw(t)
	root := defaultDatabase + "/documents"
	doc, err := api.CreateDocument(ctx, &pb.CreateDocumentRequest{
		Parent: root, CollectionId: "c", Document: &pb.Document{Fields: map[string]*pb.Value{"a": intValue(1), "b": intValue(2)}},
		Mask: &pb.DocumentMask{FieldPaths: []string{"a"}},
	})
	wantCode(t, "CreateDocument", err, codes.OK)
	if id := doc.GetName()[len(root+"/c/"):]; len(id) != 20 || len(doc.GetFields()) != 1 {
		t.Errorf("CreateDocument() = %v, want an id of 20 characters and the field a", doc)
	}
	doc, err = api.UpdateDocument(ctx, &pb.UpdateDocumentRequest{
		Document:   &pb.Document{Name: doc.GetName(), Fields: map[string]*pb.Value{"a": intValue(9), "c": intValue(9)}},
		UpdateMask: &pb.DocumentMask{FieldPaths: []string{"a"}},
	})
	wantCode(t, "UpdateDocument", err, codes.OK)
	if doc.GetFields()["a"].GetIntegerValue() != 9 || doc.GetFields()["b"].GetIntegerValue() != 2 || len(doc.GetFields()) != 2 {
		t.Errorf("UpdateDocument() = %v, want a 9 and b 2", doc.GetFields())
	}
	_, err = api.DeleteDocument(ctx, &pb.DeleteDocumentRequest{Name: doc.GetName()})
	wantCode(t, "DeleteDocument", err, codes.OK)
	_, err = api.UpdateDocument(ctx, &pb.UpdateDocumentRequest{
		Document: doc, CurrentDocument: &pb.Precondition{ConditionType: &pb.Precondition_Exists{Exists: true}},
	})
	wantCode(t, "UpdateDocument of a deleted document", err, codes.NotFound)
	_, err = api.CreateDocument(ctx, &pb.CreateDocumentRequest{Parent: root, CollectionId: "c", DocumentId: "x/y", Document: &pb.Document{}})
	wantCode(t, "CreateDocument with a slash in its id", err, codes.InvalidArgument)
}

func TestBatchWrite(t *testing.T) {
	t.Parallel()
	_, api := raw(t)
	name := func(id string) string { return defaultDatabase + "/documents/c/" + id }
	set := func(id string, p *pb.Precondition) *pb.Write {
		return &pb.Write{Operation: &pb.Write_Update{Update: &pb.Document{Name: name(id)}}, CurrentDocument: p}
	}
	exists := &pb.Precondition{ConditionType: &pb.Precondition_Exists{Exists: true}}
	r, err := api.BatchWrite(t.Context(), &pb.BatchWriteRequest{Database: defaultDatabase, Writes: []*pb.Write{set("1", nil), set("2", exists), set("3", nil)}})
	wantCode(t, "BatchWrite", err, codes.OK)
	var got []codes.Code
	for _, s := range r.GetStatus() {
		got = append(got, codes.Code(s.GetCode()))
	}
	if want := []codes.Code{codes.OK, codes.NotFound, codes.OK}; !slices.Equal(got, want) || len(r.GetWriteResults()) != 3 {
		t.Errorf("BatchWrite() = %v with %d results, want %v with 3", got, len(r.GetWriteResults()), want)
	}
	_, err = api.BatchWrite(t.Context(), &pb.BatchWriteRequest{Database: defaultDatabase, Writes: []*pb.Write{set("1", nil), set("1", nil)}})
	wantCode(t, "BatchWrite of one document twice", err, codes.InvalidArgument)
}

func TestWriteStream(t *testing.T) {
	t.Parallel()
	_, api := raw(t)
	stream, err := api.Write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exchange := func(q *pb.WriteRequest) (*pb.WriteResponse, error) {
		t.Helper()
		if err := stream.Send(q); err != nil {
			t.Fatal(err)
		}
		return stream.Recv()
	}
	hello, err := exchange(&pb.WriteRequest{Database: defaultDatabase})
	if err != nil || hello.GetStreamId() == "" || len(hello.GetStreamToken()) == 0 {
		t.Fatalf("first answer = %v, %v, want an id and a token", hello, err)
	}
	set := func(exists bool) *pb.WriteRequest {
		return &pb.WriteRequest{StreamToken: hello.GetStreamToken(), Writes: []*pb.Write{{
			Operation:       &pb.Write_Update{Update: &pb.Document{Name: defaultDatabase + "/documents/c/1"}},
			CurrentDocument: &pb.Precondition{ConditionType: &pb.Precondition_Exists{Exists: exists}},
		}}}
	}
	r, err := exchange(set(false))
	if err != nil || len(r.GetWriteResults()) != 1 || r.GetCommitTime() == nil || string(r.GetStreamToken()) == string(hello.GetStreamToken()) {
		t.Fatalf("answer to a write = %v, %v, want one result, a time and a new token", r, err)
	}
	_, err = exchange(set(false))
	wantCode(t, "write that fails", err, codes.AlreadyExists)
	if _, err = stream.Recv(); errors.Is(err, io.EOF) {
		t.Error("the stream goes on after an error, want it to have ended with it")
	}
}
