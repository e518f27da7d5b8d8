package firestore

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/internal/field"
	"truecost.dev/emulator/firestore/internal/resource"
	"truecost.dev/emulator/firestore/internal/store"
)

// How many entries a page has when the request does not say, and at most.
const (
	defaultPage = 300
	maxPage     = 10_000
)

// ListDocuments implements the RPC, ordered by name. A page token is the last
// name of the page before.
func (s *service) ListDocuments(ctx context.Context, q *pb.ListDocumentsRequest) (*pb.ListDocumentsResponse, error) {
	if q.GetOrderBy() != "" {
		return nil, status.Error(codes.Unimplemented, "order_by is not supported by this emulator")
	}
	mask, err := field.ParseAll(q.GetMask().GetFieldPaths())
	if err != nil {
		return nil, err
	}
	if err := resource.CheckParent(q.GetParent()); err != nil {
		return nil, err
	}
	r, err := s.store.Reader(store.Selector{Transaction: q.GetTransaction(), ReadTime: q.GetReadTime()})
	if err != nil {
		return nil, err
	}
	scope := store.Scope{Parent: q.GetParent(), Collection: q.GetCollectionId()}
	docs, err := r.Query(ctx, func(at store.Snapshot) []*pb.Document { return listed(at, scope, q.GetShowMissing()) })
	if err != nil {
		return nil, err
	}
	page, next, err := paginate(docs, (*pb.Document).GetName, resource.Compare, q.GetPageSize(), q.GetPageToken())
	if err != nil {
		return nil, err
	}
	s.counts.add("ListDocuments", Count{Reads: len(page)})
	out := &pb.ListDocumentsResponse{NextPageToken: next}
	for _, d := range page {
		if d.GetUpdateTime() != nil {
			d = masked(d, mask, q.GetMask() != nil)
		}
		out.Documents = append(out.Documents, d)
	}
	return out, nil
}

// listed returns the documents of a collection by name; a missing one that has
// documents below it is a name without times.
func listed(at store.Snapshot, scope store.Scope, missing bool) []*pb.Document {
	var docs []*pb.Document
	at.Scan(scope, func(d *pb.Document) { docs = append(docs, d) })
	if missing && scope.Collection != "" {
		for _, name := range at.Missing(scope.Parent + "/" + scope.Collection) {
			docs = append(docs, &pb.Document{Name: name})
		}
	}
	slices.SortFunc(docs, func(a, b *pb.Document) int { return resource.Compare(a.GetName(), b.GetName()) })
	return docs
}

// ListCollectionIds implements the RPC. A page token is the last id of the page
// before.
//
//nolint:revive // the generated interface spells it so
func (s *service) ListCollectionIds(_ context.Context, q *pb.ListCollectionIdsRequest) (*pb.ListCollectionIdsResponse, error) {
	if err := resource.CheckParent(q.GetParent()); err != nil {
		return nil, err
	}
	r, err := s.store.Reader(store.Selector{ReadTime: q.GetReadTime()})
	if err != nil {
		return nil, err
	}
	ids, next, err := paginate(r.CollectionIDs(q.GetParent()), func(id string) string { return id }, strings.Compare,
		q.GetPageSize(), q.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &pb.ListCollectionIdsResponse{CollectionIds: ids, NextPageToken: next}, nil
}

// paginate returns the page of sorted items that follows token, and the token
// of the next page, "" on the last.
func paginate[T any](items []T, key func(T) string, compare func(a, b string) int, size int32, token string) ([]T, string, error) {
	after, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return nil, "", invalid("Invalid page token.")
	}
	if size < 0 {
		return nil, "", invalid("page_size is negative")
	}
	if size == 0 {
		size = defaultPage
	}
	from := 0
	if token != "" {
		for from < len(items) && compare(key(items[from]), string(after)) <= 0 {
			from++
		}
	}
	page := items[from:]
	if n := int(min(size, maxPage)); n < len(page) {
		return page[:n], base64.RawURLEncoding.EncodeToString([]byte(key(page[n-1]))), nil
	}
	return page, "", nil
}
