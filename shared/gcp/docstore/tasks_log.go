package docstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"
	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"google.golang.org/api/iterator"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// eventsDoc holds the events of one commit, which follow one another.
type eventsDoc struct {
	First    int64      `firestore:"first"`
	Last     int64      `firestore:"last"`
	Events   []byte     `firestore:"events"`
	Encoding string     `firestore:"eventsEncoding"`
	Blob     *blobRef   `firestore:"eventsBlob"`
	ExpireAt *time.Time `firestore:"expireAt"`
}

// eventsRef names the document by its first event, so that names have the order
// of events.
func eventsRef(t *firestore.DocumentRef, first int64) *firestore.DocumentRef {
	return t.Collection("events").Doc(fmt.Sprintf("%012d", first))
}

// eventsBlob names the parts of events that do not fit into their document.
func eventsBlob(first int64) string { return fmt.Sprintf("events.%d", first) }

// log adds the new events of a record, which end with the one of its number.
func (w *taskWrite) log(r *task.Record, log []task.Entry) error {
	if len(log) == 0 {
		return nil
	}
	w.first = log[0].Seq
	texts := make([]json.RawMessage, len(log))
	for i, e := range log {
		if want := r.Seq - int64(len(log)-1-i); e.Seq != want {
			return fault.New(fault.Internal, "event %d of task %s stands where %d belongs", e.Seq, r.ID, want)
		}
		text, err := task.EncodeEvent(e.Event)
		if err != nil {
			return err
		}
		texts[i] = text
	}
	b, err := json.Marshal(texts)
	if err != nil {
		return fmt.Errorf("encode events of task %s: %w", r.ID, err)
	}
	expire := expiryOf(r, eventKept)
	held, err := w.hold(eventsBlob(w.first), b, expire)
	if err != nil {
		return err
	}
	w.events = &eventsDoc{First: w.first, Last: r.Seq, Events: held.Bytes, Encoding: held.Encoding, Blob: held.Blob, ExpireAt: expire}
	return nil
}

// maxLog is how many bytes of events, as JSON, are enough for one look at a log.
const maxLog = 4 << 20

// Log implements task.Store. One read per commit found, and one per part of what
// is large. fault.NotFound when events that came before others were removed.
func (t *Tasks) Log(ctx context.Context, agent string, id sdk.TaskID, after int64) ([]task.Entry, error) {
	if !nameable(id) {
		return nil, nil
	}
	ref := t.ref(agent, id)
	docs := ref.Collection("events").Where("last", ">", after).OrderBy("last", firestore.Asc).Documents(ctx)
	defer docs.Stop()
	var log []task.Entry
	for bytes := 0; bytes < maxLog; {
		doc, err := docs.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			return nil, rpcFault(err, "events of task %s", id)
		}
		entries, n, err := t.events(ctx, ref, doc)
		if err != nil {
			return nil, err
		}
		bytes += n
		for _, e := range entries {
			switch {
			case e.Seq <= after:
			case e.Seq != after+1:
				return nil, fault.New(fault.NotFound, "the events after %d of task %s are no longer kept", after, id)
			default:
				log = append(log, e)
				after = e.Seq
			}
		}
	}
	return log, nil
}

// events reads a document of a log, and how many bytes of JSON it holds.
func (t *Tasks) events(ctx context.Context, ref *firestore.DocumentRef, doc *firestore.DocumentSnapshot) ([]task.Entry, int, error) {
	var d eventsDoc
	if err := doc.DataTo(&d); err != nil {
		return nil, 0, fault.Wrap(fault.Internal, err, "events %s", doc.Ref.Path)
	}
	b, err := t.store.payload(ctx, ref, eventsBlob(d.First), payload{d.Events, d.Encoding, d.Blob})
	if err != nil {
		return nil, 0, err
	}
	var texts []json.RawMessage
	if err := json.Unmarshal(b, &texts); err != nil || int64(len(texts)) != d.Last-d.First+1 {
		return nil, 0, fault.Wrap(fault.Internal, err, "%s holds %d events, and says %d to %d", doc.Ref.Path, len(texts), d.First, d.Last)
	}
	entries := make([]task.Entry, len(texts))
	for i, text := range texts {
		e, err := task.DecodeEvent(text)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", doc.Ref.Path, err)
		}
		entries[i] = task.Entry{Seq: d.First + int64(i), Event: e}
	}
	return entries, len(b), nil
}
