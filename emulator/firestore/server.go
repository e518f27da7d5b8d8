package firestore

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/test/bufconn"

	"truecost.dev/emulator/firestore/internal/store"
	"truecost.dev/emulator/journal"
)

// maxMessage is the largest message on the wire in bytes; a commit is bounded
// below it, with the error of the service.
const maxMessage = 32 << 20

// streamWorkers is how many calls find a goroutine whose stack has grown already.
const streamWorkers = 16

// Options configure a Server; the zero value works.
type Options struct {
	// Now is the clock that commit times are taken from; nil means time.Now.
	// Commit times are strictly increasing even when the clock is not.
	Now func() time.Time

	// Optimistic makes transactions take no locks: they are validated when
	// they commit, and the first to commit wins.
	Optimistic bool

	// LockTimeout is how long a commit or a transaction waits for other
	// transactions before it is ABORTED; 0 means 5 s.
	LockTimeout time.Duration

	// Compact is how many bytes of log a server on disk lets grow before a
	// snapshot takes their place; 0 is 16 MiB.
	Compact int64

	// Log receives panics of handlers and what kept a snapshot from being written;
	// nil discards them.
	Log *slog.Logger
}

// Server is a Firestore server. Use New or Open.
type Server struct {
	store  *store.Store
	log    *slog.Logger
	epoch  uint64 // tells resume tokens of this server from those of another
	faults *Faults
	counts counter
	grpc   *grpc.Server
	http   *http.Server
	split  *splitter
}

// New returns a server with no documents, which keeps them in memory.
func New(o Options) *Server { return newServer(store.New(o.store()), o) }

// Open returns a server that keeps its documents in a directory, which it makes
// when it is missing, with the documents that are there. A commit that was
// answered survives the death of the process at any moment, whole, with its
// times; the times of the server go on behind the latest that was handed out.
// Open returns an error for a directory that another process uses and for files
// that are not as they were written.
func Open(dir string, o Options) (*Server, error) {
	var s *Server
	disk := o.store()
	disk.Journal = journal.Options{Compact: o.Compact, Report: func(err error) { s.report(err) }}
	documents, err := store.Open(dir, disk)
	if err != nil {
		return nil, fmt.Errorf("open the documents: %w", err)
	}
	s = newServer(documents, o)
	return s, nil
}

// report tells what went wrong outside of any call.
func (s *Server) report(err error) {
	s.log.LogAttrs(context.Background(), slog.LevelError, "the documents on disk", slog.Any("error", err))
}

func (o Options) store() store.Options {
	return store.Options{Now: o.Now, Optimistic: o.Optimistic, LockTimeout: o.LockTimeout}
}

func newServer(documents *store.Store, o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var epoch [8]byte
	_, _ = rand.Read(epoch[:]) // never fails
	s := &Server{
		store:  documents,
		log:    o.Log,
		epoch:  binary.BigEndian.Uint64(epoch[:]),
		faults: newFaults(),
	}
	s.grpc = grpc.NewServer(
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.UnaryInterceptor(s.guardUnary), grpc.StreamInterceptor(s.guardStream),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
		grpc.WaitForHandlers(true), grpc.NumStreamWorkers(streamWorkers),
	)
	pb.RegisterFirestoreServer(s.grpc, &service{Server: s})
	s.http = &http.Server{Handler: s.control(), ReadHeaderTimeout: peekTimeout}
	s.split = newSplitter(s.grpc.Serve, s.http.Serve)
	return s
}

// Serve answers the connections that l accepts, gRPC and HTTP/1 alike, until
// Close, and then returns nil. It may be called for several listeners.
func (s *Server) Serve(l net.Listener) error { return s.split.serve(l) }

// Close ends every stream, call and connection and returns when the server's
// goroutines have ended. Documents in memory are gone, another process may open
// those on disk. Closing twice is allowed.
func (s *Server) Close() error {
	s.split.close()
	s.grpc.Stop()
	err := s.http.Close()
	s.split.wait()
	return errors.Join(err, s.store.Close())
}

// Dial returns a connection to the server that does not touch the network. The
// caller closes it before the server. Clients take it as option.WithGRPCConn.
func (s *Server) Dial(_ context.Context) (*grpc.ClientConn, error) {
	const buffer = 256 << 10
	l := bufconn.Listen(buffer)
	if err := s.split.start(l); err != nil {
		return nil, err
	}
	return grpc.NewClient("passthrough:///firestore",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
}

// Faults makes calls fail on purpose.
func (s *Server) Faults() *Faults { return s.faults }

// Counts returns what the server has done since it was made.
func (s *Server) Counts() Counts { return s.counts.snapshot() }

// errClosed is returned by Dial on a closed server.
var errClosed = errors.New("firestore server is closed")
