package pubsub

import (
	"context"
	"errors"
	"io"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

const (
	// pullWait is how long a Pull waits for a first message.
	pullWait = 20 * time.Second

	// A response is full with so many messages, or so many bytes of them.
	maxPulled      = 1000
	maxPulledBytes = 4 << 20
)

var errStopped = status.Error(codes.Unavailable, "The server is stopping.")

// pullable returns a subscription that messages can be pulled from; the lock
// is held.
func (s *subscriber) pullable(name string) (*subscription, error) {
	sub, err := s.find(name)
	if err != nil {
		return nil, err
	}
	if sub.config.PushConfig.GetPushEndpoint() != "" {
		return nil, status.Errorf(codes.FailedPrecondition, "This method is not supported for this subscription type (resource=%s): it pushes.", name)
	}
	return sub, nil
}

// lease hands out up to limit messages that are due to h and says what to wait
// for when there are none.
func (s *subscriber) lease(name string, limit int, h *holder) (list []*pubsubpb.ReceivedMessage, n nap, err error) {
	s.mu.Lock()
	defer s.unlock(&err)
	if s.halted {
		return nil, nap{}, errStopped
	}
	sub, err := s.pullable(name)
	if err != nil {
		return nil, nap{}, err
	}
	for size := 0; len(list) < limit && size < maxPulledBytes; {
		e := s.broker.lease(sub, h)
		if e == nil {
			break
		}
		d := deliveryOf(sub, e)
		list = append(list, &pubsubpb.ReceivedMessage{AckId: d.ackID, Message: d.message, DeliveryAttempt: int32(d.attempt)})
		size += proto.Size(d.message)
	}
	return list, sub.nap(h), nil
}

// Pull returns messages that are due, waiting for the first of them a while.
func (s *subscriber) Pull(ctx context.Context, req *pubsubpb.PullRequest) (*pubsubpb.PullResponse, error) {
	if req.MaxMessages <= 0 {
		return nil, invalid("The value for max_messages is too small. You passed %d in the request, but the minimum value is 1.", req.MaxMessages)
	}
	h := &holder{}
	end := s.clock.Now().Add(pullWait)
	for {
		list, n, err := s.lease(req.Subscription, min(int(req.MaxMessages), maxPulled), h)
		//nolint:staticcheck // SA1019: a client may still send return_immediately
		if err != nil || len(list) > 0 || req.ReturnImmediately || !s.clock.Now().Before(end) {
			return &pubsubpb.PullResponse{ReceivedMessages: list}, err
		}
		if n.until.IsZero() || n.until.After(end) {
			n.until = end
		}
		s.clock.sleep(ctx, n)
		if err := ctx.Err(); err != nil {
			return nil, status.FromContextError(err).Err()
		}
	}
}

// Acknowledge settles leases. Stale ack ids are ignored.
func (s *subscriber) Acknowledge(_ context.Context, req *pubsubpb.AcknowledgeRequest) (_ *emptypb.Empty, err error) {
	s.mu.Lock()
	defer s.unlock(&err)
	sub, err := s.find(req.Subscription)
	if err != nil {
		return nil, err
	}
	for _, id := range req.AckIds {
		s.acknowledge(sub, id)
	}
	return &emptypb.Empty{}, nil
}

// ModifyAckDeadline sets the deadline of leases; 0 seconds is a nack.
func (s *subscriber) ModifyAckDeadline(_ context.Context, req *pubsubpb.ModifyAckDeadlineRequest) (_ *emptypb.Empty, err error) {
	if err := checkExtension(req.AckDeadlineSeconds); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.unlock(&err)
	sub, err := s.find(req.Subscription)
	if err != nil {
		return nil, err
	}
	for _, id := range req.AckIds {
		s.postpone(sub, id, time.Duration(req.AckDeadlineSeconds)*time.Second)
	}
	return &emptypb.Empty{}, nil
}

func checkExtension(seconds int32) error {
	if seconds < 0 || seconds > maxAckDeadline {
		return invalid("Invalid ack deadline given: %d seconds. It must be between 0 and %d.", seconds, maxAckDeadline)
	}
	return nil
}

// A pullStream is one StreamingPull call.
type pullStream struct {
	*subscriber
	grpc    pubsubpb.Subscriber_StreamingPullServer
	name    string
	ordered bool
	holder  *holder
	pings   chan struct{} // a request without content wants to see a living server
}

// StreamingPull sends messages as they fall due, and takes acknowledgements
// and deadlines, until the client leaves.
func (s *subscriber) StreamingPull(g pubsubpb.Subscriber_StreamingPullServer) error {
	req, err := g.Recv()
	if err != nil {
		return err
	}
	if d := req.StreamAckDeadlineSeconds; d < minAckDeadline || d > maxAckDeadline {
		return invalid("Invalid stream ack deadline given: %d seconds. It must be between %d and %d.", d, minAckDeadline, maxAckDeadline)
	}
	sub, err := s.GetSubscription(g.Context(), &pubsubpb.GetSubscriptionRequest{Subscription: req.Subscription})
	if err != nil {
		return err
	}
	p := &pullStream{
		subscriber: s, grpc: g, name: sub.Name, ordered: sub.EnableMessageOrdering, pings: make(chan struct{}, 1),
		holder: &holder{maxMessages: int(max(0, req.MaxOutstandingMessages)), maxBytes: int(max(0, req.MaxOutstandingBytes))},
	}
	if err := p.settle(req); err != nil {
		return err
	}
	received := make(chan error, 1)
	go func() { received <- p.receive() }() // ends when this handler returns, for that ends the stream
	return p.send(received)
}

// send is the half that answers: messages as they fall due, and an empty
// response to a ping.
func (p *pullStream) send(received <-chan error) error {
	for answer := false; ; {
		list, n, err := p.lease(p.name, maxPulled, p.holder)
		if err != nil {
			return err
		}
		if len(list) > 0 || answer {
			if err := p.grpc.Send(&pubsubpb.StreamingPullResponse{
				ReceivedMessages:       list,
				SubscriptionProperties: &pubsubpb.StreamingPullResponse_SubscriptionProperties{MessageOrderingEnabled: p.ordered},
			}); err != nil {
				return err
			}
		}
		answer, err = p.wait(n, received)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// wait returns when there may be something to send, or why the stream is over.
func (p *pullStream) wait(n nap, received <-chan error) (ping bool, err error) {
	due, stop := p.clock.timer(n.until)
	defer stop()
	select {
	case err := <-received:
		return false, err
	case <-p.pings:
		return true, nil
	case <-n.changed:
		return false, nil
	case <-due:
		return false, nil
	}
}

// receive takes the requests after the first until the client closes its side,
// which is io.EOF.
func (p *pullStream) receive() error {
	for {
		req, err := p.grpc.Recv()
		if err != nil {
			return err
		}
		if req.Subscription != "" || req.MaxOutstandingMessages != 0 || req.MaxOutstandingBytes != 0 || req.ProtocolVersion != 0 {
			return invalid("Only the first request of a stream may set subscription, flow control and protocol version.")
		}
		if err := p.settle(req); err != nil {
			return err
		}
		if len(req.AckIds)+len(req.ModifyDeadlineAckIds) > 0 {
			continue
		}
		select {
		case p.pings <- struct{}{}:
		default: // one answer serves both
		}
	}
}

func (p *pullStream) settle(req *pubsubpb.StreamingPullRequest) (err error) {
	if len(req.ModifyDeadlineSeconds) != len(req.ModifyDeadlineAckIds) {
		return invalid("There are %d modify_deadline_seconds for %d modify_deadline_ack_ids.", len(req.ModifyDeadlineSeconds), len(req.ModifyDeadlineAckIds))
	}
	if d := req.StreamAckDeadlineSeconds; d < 0 || d > maxAckDeadline {
		return invalid("Invalid stream ack deadline given: %d seconds.", d)
	}
	for _, seconds := range req.ModifyDeadlineSeconds {
		if err := checkExtension(seconds); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.unlock(&err)
	sub, err := p.find(p.name)
	if err != nil {
		return err
	}
	if d := req.StreamAckDeadlineSeconds; d != 0 {
		p.holder.deadline = time.Duration(d) * time.Second
	}
	for _, id := range req.AckIds {
		p.acknowledge(sub, id)
	}
	for i, id := range req.ModifyDeadlineAckIds {
		p.postpone(sub, id, time.Duration(req.ModifyDeadlineSeconds[i])*time.Second)
	}
	return nil
}
