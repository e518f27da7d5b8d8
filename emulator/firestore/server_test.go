package firestore_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/emulator/firestore/firestoretest"
)

// serve starts a server on a free port and returns it, its address and a
// function that closes it and waits until Serve has returned.
func serve(t *testing.T) (server *fsemu.Server, address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server = fsemu.New(fsemu.Options{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	return server, l.Addr().String(), func() {
		t.Helper()
		if err := server.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve() after Close = %v, want nil", err)
		}
	}
}

func TestOnePortServesEverything(t *testing.T) {
	t.Parallel()
	server, address, stop := serve(t)
	defer stop()
	client, err := firestore.NewClient(t.Context(), "p1", option.WithEndpoint(address), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	doc := client.Doc("c/1")
	_, err = doc.Set(t.Context(), map[string]any{"a": 1})
	wantCode(t, "Set over TCP", err, codes.OK)

	if got := ask(t, http.MethodGet, "http://"+address+"/"); got != "200 Ok\n" {
		t.Errorf("GET / = %q, want %q", got, "200 Ok\n")
	}
	if got := ask(t, http.MethodGet, "http://"+address+"/nothing"); !strings.HasPrefix(got, "404") {
		t.Errorf("GET /nothing = %q, want 404", got)
	}
	wipe := "http://" + address + "/emulator/v1/projects/p1/databases/(default)/documents"
	if got := ask(t, http.MethodDelete, wipe); got != "200 {}\n" {
		t.Errorf("DELETE %s = %q, want %q", wipe, got, "200 {}\n")
	}
	_, err = doc.Get(t.Context())
	wantCode(t, "Get after the wipe", err, codes.NotFound)
	if got := server.Counts().Deletes; got != 1 {
		t.Errorf("Counts().Deletes = %d, want 1", got)
	}
}

// TestEmulatorHostVariable is how the program itself finds the server.
func TestEmulatorHostVariable(t *testing.T) { //nolint:paralleltest // sets the environment
	_, address, stop := serve(t)
	defer stop()
	t.Setenv("FIRESTORE_EMULATOR_HOST", address)
	client, err := firestore.NewClient(t.Context(), "truecost")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = client.Doc("c/1").Create(t.Context(), map[string]any{"a": firestore.ServerTimestamp})
	wantCode(t, "Create", err, codes.OK)
	snap, err := client.Doc("c/1").Get(t.Context())
	wantCode(t, "Get", err, codes.OK)
	if _, ok := snap.Data()["a"].(time.Time); !ok {
		t.Errorf("a = %v, want a time", snap.Data()["a"])
	}
}

func ask(t *testing.T, method, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Status[:4] + string(body)
}

// TestCloseLeavesNothingRunning is not parallel: it looks at all goroutines.
func TestCloseLeavesNothingRunning(t *testing.T) { //nolint:paralleltest // see above
	server, address, stop := serve(t)
	idle, err := net.Dial("tcp", address) // never says what it speaks
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	client := firestoretest.Connect(t, server)
	if _, err := client.Doc("c/1").Set(t.Context(), map[string]any{"a": 1}); err != nil {
		t.Fatal(err)
	}
	snapshots := client.Doc("c/1").Snapshots(t.Context())
	defer snapshots.Stop()
	if _, err := snapshots.Next(); err != nil {
		t.Fatal(err)
	}
	if serving() == 0 {
		t.Fatal("no goroutine of the server is running before Close: the test sees nothing")
	}
	stop()
	if err := server.Close(); err != nil {
		t.Errorf("second Close() = %v, want nil", err)
	}
	for deadline := time.Now().Add(5 * time.Second); serving() > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines of the server are running after Close:\n%s", serving(), stacks())
		}
	}
	if _, err := server.Dial(t.Context()); err == nil {
		t.Error("Dial() after Close succeeded, want an error")
	}
}

func stacks() string {
	buf := make([]byte, 4<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

// serving counts the goroutines that run methods of the server.
func serving() int {
	n := 0
	for stack := range strings.SplitSeq(stacks(), "\n\n") {
		if strings.Contains(stack, "emulator/firestore.(*") {
			n++
		}
	}
	return n
}

func TestFaults(t *testing.T) {
	t.Parallel()
	server, c := firestoretest.Server(t)
	ctx, doc := t.Context(), c.Doc("c/1")
	set := func() error { _, err := doc.Set(ctx, map[string]any{"a": 1}); return err }

	server.Faults().InjectError("Commit", 2, codes.PermissionDenied)
	wantCode(t, "first Set", set(), codes.PermissionDenied)
	wantCode(t, "second Set", set(), codes.PermissionDenied)
	wantCode(t, "third Set", set(), codes.OK)

	server.Faults().InjectError("BatchGetDocuments", 1, codes.DataLoss)
	_, err := doc.Get(ctx)
	wantCode(t, "Get with an injected error", err, codes.DataLoss)

	server.Faults().Before(func(method string, req proto.Message) error {
		if q, ok := req.(*pb.CommitRequest); ok && len(q.GetWrites()) == 1 {
			return status.Error(codes.DataLoss, method)
		}
		return nil
	})
	wantCode(t, "Set past the hook", set(), codes.DataLoss)
	server.Faults().Before(nil)

	server.Faults().After(func(string, proto.Message) error { return status.Error(codes.Internal, "lost") })
	_, err = c.Doc("c/2").Create(ctx, map[string]any{})
	wantCode(t, "Create with a lost answer", err, codes.Internal)
	server.Faults().After(nil)
	_, err = c.Doc("c/2").Create(ctx, map[string]any{})
	wantCode(t, "Create again", err, codes.AlreadyExists)
}

func TestPanicsStayInside(t *testing.T) {
	t.Parallel()
	server, api := raw(t)
	set := &pb.CommitRequest{Database: defaultDatabase}
	server.Faults().Before(func(string, proto.Message) error { panic("secret") })
	_, err := api.Commit(t.Context(), set)
	wantCode(t, "Commit with a panic", err, codes.Internal)
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("error = %v, want no text of the panic", err)
	}
	stream, err := api.Listen(t.Context())
	if err == nil {
		_ = stream.Send(&pb.ListenRequest{Database: defaultDatabase})
		_, err = stream.Recv()
	}
	wantCode(t, "Listen with a panic", err, codes.Internal)
	server.Faults().Before(nil)
	_, err = api.Commit(t.Context(), set)
	wantCode(t, "Commit afterwards", err, codes.OK)
}

func TestCounts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server, c := firestoretest.Server(t)
	batch := c.Batch() //nolint:staticcheck // the atomic batch is what the engine uses
	for _, id := range []string{"1", "2", "3"} {
		batch.Set(c.Doc("c/"+id), map[string]any{"a": id})
	}
	_, err := batch.Commit(ctx)
	wantCode(t, "Commit", err, codes.OK)
	_, err = c.Doc("c/1").Create(ctx, map[string]any{})
	wantCode(t, "Create", err, codes.AlreadyExists)
	_, err = c.Collection("c").Where("a", ">", "1").Documents(ctx).GetAll()
	wantCode(t, "GetAll", err, codes.OK)
	_, err = c.GetAll(ctx, []*firestore.DocumentRef{c.Doc("c/1"), c.Doc("c/9")})
	wantCode(t, "GetAll by name", err, codes.OK)
	_, err = c.Doc("c/1").Delete(ctx)
	wantCode(t, "Delete", err, codes.OK)

	want := fsemu.Counts{
		Count: fsemu.Count{Calls: 5, Reads: 4, Writes: 3, Deletes: 1},
		ByMethod: map[string]fsemu.Count{
			"Commit":            {Calls: 3, Writes: 3, Deletes: 1},
			"RunQuery":          {Calls: 1, Reads: 2},
			"BatchGetDocuments": {Calls: 1, Reads: 2},
		},
	}
	if diff := cmp.Diff(want, server.Counts()); diff != "" {
		t.Errorf("Counts() (-want +got):\n%s", diff)
	}
}

// TestSnapshotsResume breaks the stream under the official client's iterator.
func TestSnapshotsResume(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	server, c := firestoretest.Server(t)
	doc := c.Doc("c/1")
	it := doc.Snapshots(ctx)
	defer it.Stop()
	snap, err := it.Next()
	if err != nil || snap.Exists() {
		t.Fatalf("first snapshot = %v, %v, want a missing document", snap, err)
	}
	server.Faults().EndStreams(codes.Unavailable)
	if _, err := doc.Set(ctx, map[string]any{"a": 1}); err != nil {
		t.Fatal(err)
	}
	if snap, err = it.Next(); err != nil || !snap.Exists() {
		t.Fatalf("snapshot after a broken stream = %v, %v, want the document", snap, err)
	}
	if got := server.Counts().ByMethod["Listen"].Calls; got != 2 {
		t.Errorf("Listen was called %d times, want 2", got)
	}
}

func TestUnimplementedSaysWhat(t *testing.T) {
	t.Parallel()
	_, api := raw(t)
	_, err := api.PartitionQuery(t.Context(), &pb.PartitionQueryRequest{})
	wantCode(t, "PartitionQuery", err, codes.Unimplemented)
	if !strings.Contains(err.Error(), "PartitionQuery") {
		t.Errorf("error = %v, want it to name PartitionQuery", err)
	}
	stream, err := api.ExecutePipeline(t.Context(), &pb.ExecutePipelineRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	wantCode(t, "ExecutePipeline", err, codes.Unimplemented)
	if errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "ExecutePipeline") {
		t.Errorf("error = %v, want it to name ExecutePipeline", err)
	}
}
