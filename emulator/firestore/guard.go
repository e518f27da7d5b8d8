package firestore

import (
	"context"
	"log/slog"
	"path"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// guardUnary counts a call, lets faults act on it and keeps a panic of its
// handler from ending the process.
func (s *Server) guardUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
	method := path.Base(info.FullMethod)
	defer s.rescue(ctx, method, &err)
	s.counts.add(method, Count{Calls: 1})
	msg, _ := req.(proto.Message)
	if err := s.faults.before(method, msg); err != nil {
		return nil, err
	}
	if resp, err = next(ctx, req); err != nil {
		return nil, err
	}
	if err := s.faults.after(method, msg); err != nil {
		return nil, err
	}
	return resp, nil
}

// guardStream does the same for a stream, for each of its requests.
func (s *Server) guardStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	method := path.Base(info.FullMethod)
	defer s.rescue(stream.Context(), method, &err)
	s.counts.add(method, Count{Calls: 1})
	ctx, done := s.faults.stream(stream.Context())
	defer done()
	err = next(srv, &guarded{ServerStream: stream, server: s, method: method, context: func() context.Context { return ctx }})
	if cause := context.Cause(ctx); err != nil && cause != nil && stream.Context().Err() == nil {
		return cause
	}
	return err
}

// guarded is a stream whose requests pass by the faults.
type guarded struct {
	grpc.ServerStream
	server  *Server
	method  string
	context func() context.Context
}

// Context implements grpc.ServerStream.
func (g *guarded) Context() context.Context { return g.context() }

// RecvMsg implements grpc.ServerStream.
func (g *guarded) RecvMsg(m any) (err error) {
	defer g.server.rescue(g.Context(), g.method, &err)
	if err := g.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	msg, _ := m.(proto.Message)
	return g.server.faults.before(g.method, msg)
}

// rescue turns a panic into INTERNAL. The text stays in the log.
func (s *Server) rescue(ctx context.Context, method string, err *error) {
	if p := recover(); p != nil {
		s.log.ErrorContext(ctx, "firestore handler panicked",
			slog.String("method", method), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		*err = status.Error(codes.Internal, "internal error")
	}
}
