package firestore

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"truecost.dev/emulator/firestore/internal/value"
)

// listenStream is what Listen needs of a stream.
type listenStream interface {
	Context() context.Context
	Recv() (*pb.ListenRequest, error)
	Send(*pb.ListenResponse) error
}

// Listen implements the RPC.
func (s *service) Listen(stream pb.Firestore_ListenServer) error {
	return s.listen(stream)
}

// listener is one Listen stream: its targets and what the client has of them.
type listener struct {
	*Server
	send     func(*pb.ListenResponse) error
	database string // as the latest request that named one says
	targets  map[int32]*target
}

// listenRequest is what the receiving goroutine hands over.
type listenRequest struct {
	msg *pb.ListenRequest
	err error
}

func (s *Server) listen(stream listenStream) error {
	ctx := stream.Context()
	requests := make(chan listenRequest)
	go func() { // ends with the stream, at the latest when the handler has returned
		for {
			msg, err := stream.Recv()
			select {
			case requests <- listenRequest{msg, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	wake, stop := s.store.Watch()
	defer stop()
	l := &listener{Server: s, send: stream.Send, targets: map[int32]*target{}}
	for {
		var err error
		select {
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		case q := <-requests:
			if errors.Is(q.err, io.EOF) {
				return nil
			}
			if q.err != nil {
				return q.err
			}
			err = l.handle(q.msg)
		case <-wake:
			err = l.sync()
		}
		if err != nil {
			return err
		}
	}
}

// handle carries out one request.
func (l *listener) handle(q *pb.ListenRequest) error {
	if q.GetDatabase() != "" {
		l.database = q.GetDatabase()
	}
	if err := inDatabase(l.database); err != nil {
		return err
	}
	switch x := q.GetTargetChange().(type) {
	case *pb.ListenRequest_AddTarget:
		return l.add(x.AddTarget)
	case *pb.ListenRequest_RemoveTarget:
		delete(l.targets, x.RemoveTarget)
		return l.change(pb.TargetChange_REMOVE, x.RemoveTarget)
	default:
		return invalid("Either add_target or remove_target is required.")
	}
}

// add starts a target. One that is refused ends alone; the stream goes on.
func (l *listener) add(raw *pb.Target) error {
	t, err := newTarget(l.database, raw)
	if err != nil {
		return l.send(targetChange(&pb.TargetChange{
			TargetChangeType: pb.TargetChange_REMOVE,
			TargetIds:        []int32{raw.GetTargetId()},
			Cause:            status.Convert(err).Proto(),
		}))
	}
	if t.id == 0 { // the server chooses
		for t.id = 1; l.targets[t.id] != nil; t.id++ {
		}
	}
	if err := l.change(pb.TargetChange_ADD, t.id); err != nil {
		return err
	}
	if err := l.resume(t, raw); err != nil {
		return err
	}
	l.targets[t.id] = t
	return l.sync()
}

// resume gives the target what the client already has, if the client says and
// the store still knows; otherwise the client is told to start anew.
func (l *listener) resume(t *target, raw *pb.Target) error {
	var from int64
	switch x := raw.GetResumeType().(type) {
	case nil:
		return nil
	case *pb.Target_ResumeToken:
		if len(x.ResumeToken) == 0 {
			return nil
		}
		from = l.readToken(x.ResumeToken)
	case *pb.Target_ReadTime:
		from = value.Micros(x.ReadTime)
	}
	snap, err := l.store.At(from)
	if err != nil {
		return l.change(pb.TargetChange_RESET, t.id)
	}
	t.adopt(snap)
	return nil
}

// sync brings all targets to one and the same point in time, and tells the
// client that it may show it if there is anything to show.
func (l *listener) sync() error {
	snap := l.store.Now()
	at, token := value.Time(snap.Time()), l.token(snap.Time())
	changed := false
	for _, id := range slices.Sorted(maps.Keys(l.targets)) {
		t := l.targets[id]
		fresh := !t.current
		msgs := t.advance(snap)
		l.counts.add("Listen", Count{Reads: documentChanges(msgs)})
		for _, m := range msgs {
			if err := l.send(m); err != nil {
				return err
			}
		}
		changed = changed || fresh || len(msgs) > 0
		if fresh {
			if err := l.current(t, token, at); err != nil {
				return err
			}
		}
	}
	if !changed {
		return nil
	}
	return l.send(targetChange(&pb.TargetChange{TargetChangeType: pb.TargetChange_NO_CHANGE, ResumeToken: token, ReadTime: at}))
}

// current tells that the client has the whole of a new target, and ends one
// that was asked for once.
func (l *listener) current(t *target, token []byte, at *timestamppb.Timestamp) error {
	err := l.send(targetChange(&pb.TargetChange{
		TargetChangeType: pb.TargetChange_CURRENT, TargetIds: []int32{t.id}, ResumeToken: token, ReadTime: at,
	}))
	if err != nil || !t.once {
		return err
	}
	delete(l.targets, t.id)
	return l.change(pb.TargetChange_REMOVE, t.id)
}

func (l *listener) change(kind pb.TargetChange_TargetChangeType, id int32) error {
	return l.send(targetChange(&pb.TargetChange{TargetChangeType: kind, TargetIds: []int32{id}}))
}

func targetChange(c *pb.TargetChange) *pb.ListenResponse {
	return &pb.ListenResponse{ResponseType: &pb.ListenResponse_TargetChange{TargetChange: c}}
}

func documentChanges(msgs []*pb.ListenResponse) int {
	n := 0
	for _, m := range msgs {
		if m.GetDocumentChange() != nil {
			n++
		}
	}
	return n
}
