package firestore

import (
	"context"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Hook looks at one request of the named RPC ("Commit") and may fail it. It
// must not change the request and may be called by several calls at once.
type Hook func(method string, req proto.Message) error

// Faults makes calls fail on purpose. RPCs go by their short names ("Commit",
// "BatchGetDocuments", "Listen"). Errors should be gRPC statuses; remember that
// clients retry UNAVAILABLE and RESOURCE_EXHAUSTED on their own.
type Faults struct {
	mu       sync.Mutex // guards the fields below
	injected map[string][]codes.Code
	hooks    [2]Hook // before, after
	streams  map[*stream]struct{}
}

// stream is a running stream, for EndStreams.
type stream struct{ end context.CancelCauseFunc }

func newFaults() *Faults {
	return &Faults{injected: map[string][]codes.Code{}, streams: map[*stream]struct{}{}}
}

// InjectError makes the next requests of an RPC, as many as times says, fail
// with code before they do anything.
func (f *Faults) InjectError(method string, times int, code codes.Code) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range times {
		f.injected[method] = append(f.injected[method], code)
	}
}

// Before sets what is asked before each request is carried out; nil for
// nothing. An error keeps the request from doing anything.
func (f *Faults) Before(h Hook) { f.set(0, h) }

// After sets what is asked after each unary request was carried out; nil for
// nothing. An error is an answer lost on the way: the work stays done.
func (f *Faults) After(h Hook) { f.set(1, h) }

func (f *Faults) set(i int, h Hook) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hooks[i] = h
}

// EndStreams ends all streams that are running, Listen and Write above all,
// with code.
func (f *Faults) EndStreams(code codes.Code) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.streams {
		s.end(status.Error(code, "stream ended on purpose"))
	}
}

// stream registers a stream; the context it returns ends with EndStreams.
func (f *Faults) stream(parent context.Context) (ctx context.Context, done func()) {
	ctx, end := context.WithCancelCause(parent)
	s := &stream{end: end}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams[s] = struct{}{}
	return ctx, func() {
		f.mu.Lock()
		delete(f.streams, s)
		f.mu.Unlock()
		end(nil)
	}
}

func (f *Faults) before(method string, req proto.Message) error {
	f.mu.Lock()
	if codes := f.injected[method]; len(codes) > 0 {
		f.injected[method] = codes[1:]
		f.mu.Unlock()
		return status.Error(codes[0], "error injected into "+method)
	}
	f.mu.Unlock()
	return f.ask(0, method, req)
}

func (f *Faults) after(method string, req proto.Message) error { return f.ask(1, method, req) }

func (f *Faults) ask(i int, method string, req proto.Message) error {
	f.mu.Lock()
	h := f.hooks[i]
	f.mu.Unlock()
	if h == nil {
		return nil
	}
	return h(method, req)
}
