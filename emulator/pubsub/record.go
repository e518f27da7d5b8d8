package pubsub

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// A record of the journal is what one call changed, in order: a protocol buffer
// whose fields are changes.
//
//	message Record {
//	  repeated Counters counters = 1;
//	  repeated google.pubsub.v1.Topic topic = 2;                // created or changed
//	  repeated string topic_deleted = 3;
//	  repeated google.pubsub.v1.Subscription subscription = 4;  // created or changed
//	  repeated string subscription_deleted = 5;                 // with its backlog
//	  repeated Published published = 6;
//	  repeated Moved leased = 7;                                // to: number of the lease
//	  repeated Moved waiting = 8;                               // to: due, Unix time in ns
//	  repeated Moved settled = 9;                               // to: 0
//	}
//	message Counters  { uint64 message = 1; uint64 entry = 2; uint64 lease = 3; }
//	message Published { string topic = 1; google.pubsub.v1.PubsubMessage message = 2; repeated Entry entry = 3; }
//	message Entry     { uint64 number = 1; string subscription = 2; uint64 order = 3; uint64 at = 4; uint64 attempt = 5; }
//	message Moved     { uint64 number = 1; uint64 to = 2; }
const (
	countersField = iota + 1
	topicField
	topicDeletedField
	subscriptionField
	subscriptionDeletedField
	publishedField
	leasedField
	waitingField
	settledField
)

// An element is one field of a protocol buffer: a number, or bytes.
type element struct {
	field  protowire.Number
	number uint64
	bytes  []byte // nil for a number
}

// elements reads a protocol buffer of numbers and bytes.
func elements(b []byte) ([]element, error) {
	var list []element
	for len(b) > 0 {
		field, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		e := element{field: field}
		switch typ {
		case protowire.VarintType:
			e.number, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			e.bytes, n = protowire.ConsumeBytes(b)
		default:
			return nil, fmt.Errorf("field %d has type %d", field, typ)
		}
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		list = append(list, e)
	}
	return list, nil
}

// numbers reads a protocol buffer of up to n numbers; what is not there is 0.
func numbers(b []byte, n int) ([]uint64, error) {
	list, err := elements(b)
	if err != nil {
		return nil, err
	}
	out := make([]uint64, n)
	for _, e := range list {
		if e.bytes != nil || int(e.field) > n {
			return nil, fmt.Errorf("field %d is not expected", e.field)
		}
		out[e.field-1] = e.number
	}
	return out, nil
}

// appendNumbers appends a field that is a protocol buffer of numbers.
func appendNumbers(b []byte, field protowire.Number, list ...uint64) []byte {
	var inner []byte
	for i, n := range list {
		inner = protowire.AppendTag(inner, protowire.Number(i+1), protowire.VarintType)
		inner = protowire.AppendVarint(inner, n)
	}
	return appendBytes(b, field, inner)
}

func appendBytes[B []byte | string](b []byte, field protowire.Number, content B) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(content)))
	return append(b, content...)
}

func appendMessage(b []byte, field protowire.Number, m proto.Message) ([]byte, error) {
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return b, fmt.Errorf("encode %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return appendBytes(b, field, content), nil
}

// appendPublished appends a message with its entries.
func appendPublished(b []byte, r *record, entries []entry) ([]byte, error) {
	inner, err := appendMessage(appendBytes(nil, 1, r.topic), 2, r.message)
	if err != nil {
		return b, err
	}
	for _, e := range entries {
		var one []byte
		one = protowire.AppendTag(one, 1, protowire.VarintType)
		one = protowire.AppendVarint(one, e.number)
		one = appendBytes(one, 2, e.subscription)
		for i, n := range []uint64{e.order, uint64(e.at.UnixNano()), uint64(e.attempt)} {
			one = protowire.AppendTag(one, protowire.Number(i+3), protowire.VarintType)
			one = protowire.AppendVarint(one, n)
		}
		inner = appendBytes(inner, 3, one)
	}
	return appendBytes(b, publishedField, inner), nil
}
