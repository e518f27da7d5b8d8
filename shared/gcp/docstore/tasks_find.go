package docstore

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"cloud.google.com/go/firestore"
	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// List implements task.Finder. One read per task of the page and one more, and
// one per 1,000 tasks counted. A page of large tasks has fewer than were asked for.
func (t *Tasks) List(ctx context.Context, want task.Query) (task.Page, error) {
	q := t.all.Where("agent", "==", want.Agent).Where("owner", "==", want.Owner)
	if want.ContextID != "" {
		q = q.Where("contextId", "==", want.ContextID)
	}
	if want.State != "" {
		q = q.Where("state", "==", want.State.String())
	}
	if !want.After.IsZero() {
		q = q.Where("statusTime", ">=", want.After)
	}
	q = q.OrderBy("statusTime", firestore.Desc).OrderBy(firestore.DocumentID, firestore.Asc)
	total, err := count(ctx, q)
	if err != nil {
		return task.Page{}, err
	}
	if want.From != "" {
		from, err := parseCursor(want.From, want.Agent)
		if err != nil {
			return task.Page{}, err
		}
		q = q.StartAfter(from.Time, from.ID)
	}
	docs, err := q.Limit(want.Size + 1).Documents(ctx).GetAll()
	if err != nil {
		return task.Page{}, rpcFault(err, "list tasks of %s", want.Agent)
	}
	page := task.Page{Total: total}
	for bytes := 0; len(page.Records) < min(len(docs), want.Size) && bytes < maxPage; {
		r, size, err := t.load(ctx, docs[len(page.Records)])
		if err != nil {
			return task.Page{}, err
		}
		page.Records, bytes = append(page.Records, r), bytes+size
	}
	if n := len(page.Records); n < len(docs) {
		page.Next = cursorOf(docs[n-1]).String()
	}
	return page, nil
}

// maxPage is how many bytes of tasks, as JSON, are enough for a page.
const maxPage = 8 << 20

// cursor is where a page ends: behind the task of this id with this time.
type cursor struct {
	Time time.Time `json:"t"`
	ID   string    `json:"i"`
}

func cursorOf(doc *firestore.DocumentSnapshot) cursor {
	at, _ := doc.Data()["statusTime"].(time.Time)
	return cursor{at, doc.Ref.ID}
}

func (c cursor) String() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic("docstore: encode a time and an id: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads a token that callers hand back. It says no more than where
// in their own list to go on, so that a forged one harms nobody.
func parseCursor(token, agent string) (cursor, error) {
	var c cursor
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	id, ours := strings.CutPrefix(c.ID, agent+"~")
	year := c.Time.UTC().Year() // Firestore knows those from 1 to 9999
	if err != nil || !ours || !nameable(sdk.TaskID(id)) || c.Time.IsZero() || year < 1 || year > 9999 {
		return cursor{}, fault.Wrap(fault.Invalid, err, "pageToken: it is no token of a page")
	}
	return c, nil
}

// Due implements task.Finder. One read per task found, and one when none is.
func (t *Tasks) Due(ctx context.Context, before time.Time, limit int) ([]task.Ref, error) {
	docs, err := t.all.Where("wake", "<", before).OrderBy("wake", firestore.Asc).
		Limit(limit).Select().Documents(ctx).GetAll()
	if err != nil {
		return nil, rpcFault(err, "due tasks")
	}
	refs := make([]task.Ref, len(docs))
	for i, doc := range docs {
		agent, id, _ := strings.Cut(doc.Ref.ID, "~")
		refs[i] = task.Ref{Agent: agent, ID: sdk.TaskID(id)}
	}
	return refs, nil
}
