package store

import (
	"errors"
	"fmt"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"truecost.dev/emulator/firestore/internal/resource"
)

// A record is what the journal holds of a commit: what became of its documents,
// not what was asked. It is a protocol buffer:
//
//	message Record {
//	  int64 at = 1;                                        // microseconds since 1970
//	  repeated google.firestore.v1.Document stored = 2;    // with its times
//	  repeated string deleted = 3;                         // names
//	}
//
// One without documents says that no time after at has been handed out.
type record struct {
	at      int64
	stored  []*pb.Document
	deleted []string
}

// The fields of a record.
const (
	atField      = 1
	storedField  = 2
	deletedField = 3
)

// marshal returns the wire form.
func (r record) marshal() ([]byte, error) {
	b := protowire.AppendTag(nil, atField, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(r.at))
	for _, d := range r.stored {
		b = protowire.AppendTag(b, storedField, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(proto.Size(d)))
		var err error
		if b, err = (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend(b, d); err != nil {
			return nil, fmt.Errorf("encode %s: %w", d.GetName(), err)
		}
	}
	for _, name := range r.deleted {
		b = protowire.AppendTag(b, deletedField, protowire.BytesType)
		b = protowire.AppendString(b, name)
	}
	return b, nil
}

// unmarshal reads the wire form. It refuses what marshal does not write.
func unmarshal(b []byte) (record, error) {
	var r record
	for len(b) > 0 {
		field, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return r, protowire.ParseError(n)
		}
		b = b[n:]
		var raw []byte
		switch {
		case field == atField && typ == protowire.VarintType:
			var at uint64
			at, n = protowire.ConsumeVarint(b)
			r.at = int64(at)
		case (field == storedField || field == deletedField) && typ == protowire.BytesType:
			raw, n = protowire.ConsumeBytes(b)
		default:
			return r, fmt.Errorf("a commit has no field %d of type %d", field, typ)
		}
		if n < 0 {
			return r, protowire.ParseError(n)
		}
		b = b[n:]
		if err := r.add(field, raw); err != nil {
			return r, err
		}
	}
	if r.at <= 0 {
		return r, errors.New("a commit has no time")
	}
	return r, nil
}

func (r *record) add(field protowire.Number, raw []byte) error {
	switch field {
	case storedField:
		d := &pb.Document{}
		if err := proto.Unmarshal(raw, d); err != nil {
			return err
		}
		r.stored = append(r.stored, d)
		return resource.CheckDocument(d.GetName())
	case deletedField:
		r.deleted = append(r.deleted, string(raw))
		return resource.CheckDocument(string(raw))
	default:
		return nil
	}
}
