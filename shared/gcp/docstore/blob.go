package docstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/fault"
)

// maxPart bounds a part of a blob, partsPerWrite what one request carries: 10 MiB
// at most.
const (
	maxPart       = 900 << 10
	partsPerWrite = 8
)

// payload is JSON of any size as a document holds it: packed, or, where it has
// no room for that, a reference to parts beside it.
type payload struct {
	Bytes    []byte
	Encoding string // "" or gzip
	Blob     *blobRef
}

// blobRef says what the parts of a blob are together.
type blobRef struct {
	Parts  int    `firestore:"parts" json:"parts"`
	Size   int    `firestore:"size" json:"size"`     // bytes of all parts
	SHA256 string `firestore:"sha256" json:"sha256"` // of all parts, in hex
}

// blob is a payload that is kept in documents {parent}/blobs/{name}.{hash}.{i}.
// They are named by what they hold: two writers with different results, of which
// only one will be referred to, do not overwrite each other.
type blob struct {
	parent *firestore.DocumentRef
	name   string
	ref    blobRef
	data   []byte

	// expire is when the parts are removed. What is to stay loses it in the commit
	// that refers to it, so that only a blob that no commit refers to goes.
	expire *time.Time
}

func blobPart(parent *firestore.DocumentRef, name string, ref *blobRef, i int) *firestore.DocumentRef {
	return parent.Collection("blobs").Doc(name + "." + ref.SHA256[:16] + "." + strconv.Itoa(i))
}

// hold prepares a payload for a document that has room for so many packed bytes.
// blob is nil where they fit.
func hold(parent *firestore.DocumentRef, name string, data []byte, room int) (payload, *blob, error) {
	packed, encoding, err := compress(data)
	if err != nil {
		return payload{}, nil, err
	}
	if len(packed) <= room {
		return payload{Bytes: packed, Encoding: encoding}, nil, nil
	}
	sum := sha256.Sum256(packed)
	ref := blobRef{Parts: (len(packed) + maxPart - 1) / maxPart, Size: len(packed), SHA256: hex.EncodeToString(sum[:])}
	return payload{Encoding: encoding, Blob: &ref}, &blob{parent: parent, name: name, ref: ref, data: packed}, nil
}

// putBlob writes the parts that are not there yet.
func (s *Store) putBlob(ctx context.Context, b *blob) error {
	parts := slices.Collect(slices.Chunk(b.data, maxPart))
	for from := 0; from < len(parts); from += partsPerWrite {
		to := min(from+partsPerWrite, len(parts))
		err := s.createParts(ctx, b, parts, from, to)
		for i := from; exists(err) && i < to; i++ {
			// Somebody began before us: each by itself.
			if one := s.createParts(ctx, b, parts, i, i+1); one != nil && !exists(one) {
				err = one
			}
		}
		if err != nil && !exists(err) {
			return err
		}
	}
	return nil
}

func (s *Store) createParts(ctx context.Context, b *blob, parts [][]byte, from, to int) error {
	writes := s.client.Batch() //nolint:staticcheck // see batch
	for i := from; i < to; i++ {
		writes.Create(blobPart(b.parent, b.name, &b.ref, i), map[string]any{"data": parts[i], "expireAt": b.expire})
	}
	if _, err := writes.Commit(ctx); err != nil {
		return rpcFault(err, "parts %d to %d of %s at %s", from, to-1, b.name, b.parent.ID)
	}
	return nil
}

// payload returns what was held under name beside or in the document parent.
func (s *Store) payload(ctx context.Context, parent *firestore.DocumentRef, name string, p payload) (json.RawMessage, error) {
	packed := p.Bytes
	if p.Blob == nil && len(packed) == 0 {
		return nil, nil
	}
	if p.Blob != nil {
		var err error
		if packed, err = s.blob(ctx, parent, name, p.Blob); err != nil {
			return nil, err
		}
	}
	b, err := unpack(packed, p.Encoding)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", name, parent.Path, err)
	}
	return b, nil
}

func (s *Store) blob(ctx context.Context, parent *firestore.DocumentRef, name string, ref *blobRef) ([]byte, error) {
	if len(ref.SHA256) != 2*sha256.Size || ref.Parts < 1 || ref.Size > ref.Parts*maxPart {
		return nil, fault.New(fault.Internal, "the reference to %s at %s is damaged", name, parent.Path)
	}
	refs := make([]*firestore.DocumentRef, ref.Parts)
	for i := range refs {
		refs[i] = blobPart(parent, name, ref, i)
	}
	docs, err := s.client.GetAll(ctx, refs)
	if err != nil {
		return nil, rpcFault(err, "%s at %s", name, parent.ID)
	}
	var all bytes.Buffer
	for _, doc := range docs {
		data, ok := doc.Data()["data"].([]byte)
		if !ok {
			return nil, fault.New(fault.Internal, "%s is gone", doc.Ref.Path)
		}
		all.Write(data)
	}
	sum := sha256.Sum256(all.Bytes())
	if all.Len() != ref.Size || hex.EncodeToString(sum[:]) != ref.SHA256 {
		return nil, fault.New(fault.Internal, "%s and what follows it are not what was written", refs[0].Path)
	}
	return all.Bytes(), nil
}
