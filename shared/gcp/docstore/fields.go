package docstore

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Limits of a stored value. Firestore takes 1 MiB a document and 20 levels.
const (
	maxPayload    = 900 << 10 // packed, within a document
	compressAbove = 8 << 10
	maxInflated   = 256 << 20 // what an instance can hold in memory
	maxDepth      = 18
)

// fields turns a value with JSON tags into what Firestore stores: whole numbers
// stay integers, others are doubles.
func fields(v any) (map[string]any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	decoded, err := value(b)
	if err != nil {
		return nil, err
	}
	m, ok := decoded.(map[string]any)
	if !ok {
		return nil, fault.New(fault.Internal, "%T is no object", v)
	}
	return m, nil
}

// value decodes JSON into Firestore's kinds of values.
func value(b []byte) (any, error) {
	v, err := runner.Value(b)
	if err != nil {
		return nil, fmt.Errorf("decode stored value: %w", err)
	}
	return v, nil
}

// updates lists the members of a map that stands at a path as a field-mask
// update, in a stable order.
func updates(m map[string]any, at ...string) []firestore.Update {
	list := make([]firestore.Update, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, firestore.Update{FieldPath: append(slices.Clip(firestore.FieldPath(at)), k), Value: m[k]})
	}
	return list
}

// load decodes stored fields into a value with JSON tags.
func load(m map[string]any, v any) error {
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode stored fields: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("decode stored fields: %w", err)
	}
	return nil
}

// storable reports whether Firestore can hold v as it is: at most 18 levels, no
// array directly within an array, no empty or reserved member names.
func storable(v any, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			reserved := len(k) >= 4 && strings.HasPrefix(k, "__") && strings.HasSuffix(k, "__")
			if k == "" || len(k) > 1500 || reserved || !storable(member, depth+1) {
				return false
			}
		}
	case []any:
		for _, element := range v {
			if _, nested := element.([]any); nested || !storable(element, depth+1) {
				return false
			}
		}
	}
	return true
}

// visible returns JSON as frontends read it: a map, or the JSON text itself
// where Firestore cannot hold the map. encoding is "" or "json".
func visible(raw json.RawMessage) (v any, encoding string, err error) {
	v, err = value(raw)
	if err != nil {
		return nil, "", err
	}
	if storable(v, 1) {
		return v, "", nil
	}
	return string(raw), "json", nil
}

// size is what Firestore counts for a value, in bytes.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 1
	case []byte:
		return len(v)
	case map[string]any:
		n := 32
		for k, member := range v {
			n += len(k) + 1 + size(member)
		}
		return n
	case []any:
		n := 0
		for _, element := range v {
			n += size(element)
		}
		return n
	case nil, bool:
		return 1
	default:
		return 8 // numbers, times
	}
}

// raw turns a visible value back into JSON.
func raw(v any, encoding string) (json.RawMessage, error) {
	if text, ok := v.(string); ok && encoding == "json" {
		return json.RawMessage(text), nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode stored value: %w", err)
	}
	return b, nil
}

// compress compresses a payload worth compressing.
func compress(payload []byte) (packed []byte, encoding string, err error) {
	switch {
	case len(payload) <= compressAbove:
		return payload, "", nil
	case len(payload) > maxInflated:
		return nil, "", fault.New(fault.Invalid, "the payload is too large to store: %d bytes, %d at most", len(payload), maxInflated)
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is valid
	_, _ = w.Write(payload)                         // a buffer takes everything
	_ = w.Close()
	return b.Bytes(), "gzip", nil
}

// pack compresses a payload that must fit into its document.
func pack(payload []byte) (packed []byte, encoding string, err error) {
	if packed, encoding, err = compress(payload); err != nil {
		return nil, "", err
	}
	if len(packed) > maxPayload {
		return nil, "", fault.New(fault.Invalid, "the payload is too large to store: %d bytes, %d at most", len(packed), maxPayload)
	}
	return packed, encoding, nil
}

func unpack(packed []byte, encoding string) ([]byte, error) {
	if encoding == "" {
		return packed, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack payload: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxInflated+1))
	if err != nil {
		return nil, fmt.Errorf("unpack payload: %w", err)
	}
	if len(b) > maxInflated {
		return nil, fault.New(fault.Internal, "the payload unpacks to more than %d bytes", maxInflated)
	}
	return b, nil
}
