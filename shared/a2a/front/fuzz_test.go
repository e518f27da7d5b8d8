package front

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
)

// obedient is the scripted agent, deaf to the one word that takes time.
func obedient() task.Agent {
	a := scripted()
	a.Check = func(m *sdk.Message) error {
		for _, p := range m.Parts {
			if p.Text() == "wait" {
				p.Content = sdk.Text("no")
			}
		}
		return nil
	}
	return a
}

// statuses are all that a front answers with.
var statuses = []int{200, 202, 204, 400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 503}

// FuzzFront sends anything to anywhere: the answer has a status that the
// protocols know, a media type and a body of it, says nothing of the inside, and
// no request makes a second answer differ in kind.
func FuzzFront(f *testing.F) {
	for i, row := range hostileRows(f) {
		if cells := strings.Split(row.request, " ; "); len(row.body) < 4<<10 {
			method, path, _ := strings.Cut(cells[0], " ")
			version := ""
			for _, h := range cells[1:] {
				if v, ok := strings.CutPrefix(h, "A2A-Version: "); ok {
					version = v
				}
			}
			f.Add(method, path, version, []byte(row.body))
			if i%7 == 0 {
				f.Add(http.MethodPost, "/task_updates/x", version, []byte(row.body))
			}
		}
	}
	f.Fuzz(func(t *testing.T, method, path, version string, body []byte) {
		u, err := url.ParseRequestURI(path)
		if err != nil || u.IsAbs() || !slices.Contains([]string{"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"}, method) {
			return
		}
		h, _ := newFront(t, obedient(), Options{MaxBody: 64 << 10, Log: slog.New(slog.DiscardHandler)})
		r := httptest.NewRequestWithContext(t.Context(), method, "/", bytes.NewReader(body))
		r.URL.Path, r.URL.RawQuery = u.Path, u.RawQuery
		r.Header["A2a-Version"] = []string{version}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if !slices.Contains(statuses, w.Code) {
			t.Errorf("HTTP %d, want one of %v", w.Code, statuses)
		}
		checkBody(t, w)
	})
}

// checkBody checks a body against the media type it is said to have.
func checkBody(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code == http.StatusNoContent {
		return
	}
	switch media := w.Header().Get("Content-Type"); media {
	case "application/json", mediaA2A:
		var top map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &top); err != nil {
			t.Errorf("body %q is no object: %v", w.Body, err)
		}
		if e, ok := top["error"]; ok && inner.MatchString(fmt.Sprint(e)) && w.Code >= 500 {
			t.Errorf("answer %s shows the inside", w.Body)
		}
	case "text/event-stream":
		for line := range strings.SplitSeq(w.Body.String(), "\n") {
			data, ok := strings.CutPrefix(line, "data: ")
			if ok && !json.Valid([]byte(data)) {
				t.Errorf("frame %q is no JSON", data)
			} else if !ok && line != "" && !strings.HasPrefix(line, "id: ") && !strings.HasPrefix(line, "event: ") && !strings.HasPrefix(line, ": ") {
				t.Errorf("line %q is of no event", line)
			}
		}
	default:
		t.Errorf("Content-Type %q", media)
	}
}

// FuzzDecode gives every decoder any body: what it refuses it refuses in words
// for strangers, and a message it takes is stored, written by 1.0 and read again
// as the same message.
func FuzzDecode(f *testing.F) {
	for _, row := range hostileRows(f) {
		if _, path, _ := strings.Cut(strings.Split(row.request, " ; ")[0], " "); len(row.body) < 4<<10 {
			f.Add(path, []byte(row.body))
		}
	}
	codecs := codecsOf(scripted())
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		top, err := parse(body)
		if err != nil {
			return
		}
		for _, c := range codecs {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				r := request{http: httptest.NewRequestWithContext(t.Context(), method, "/", nil), path: path, top: top, agent: scripted()}
				if _, modern := c.(v1RPC); modern {
					r.http.Header.Set("A2A-Version", "1.0")
				}
				if !c.detect(r) {
					continue
				}
				asked, err := c.decode(r)
				if err != nil {
					if e := wire.RefusalOf(err); e.Code == wire.CodeInternal || e.Message == "" {
						t.Errorf("%T.decode(%s) = %v, want a refusal that says something", c, body, err)
					}
					continue
				}
				if m := asked.send.Message; m != nil {
					checkMessage(t, m)
				}
			}
		}
	})
}

// checkMessage takes a message through the store and through 1.0.
func checkMessage(t *testing.T, m *sdk.Message) {
	t.Helper()
	if n := len(m.Parts); n == 0 || n > maxParts || m.Role != sdk.MessageRoleUser {
		t.Errorf("message %+v, want one of a user with 1 to %d parts", m, maxParts)
	}
	stored, err := task.EncodeEvent(m)
	if err != nil {
		t.Fatalf("EncodeEvent() = %v", err)
	}
	again, err := task.DecodeEvent(stored)
	if err != nil {
		t.Fatalf("DecodeEvent(%s) = %v", stored, err)
	}
	if restored, err := task.EncodeEvent(again); err != nil || !bytes.Equal(stored, restored) {
		t.Errorf("stored %s, then %s (%v), want the same", stored, restored, err)
	}
	if m.ID == "" {
		return // the desk names it
	}
	params, _ := wire.Object(stored)
	read, err := v1Send(object{"params", params}, sendMessage)
	if err != nil {
		t.Fatalf("v1Send(%s) = %v, want the message", stored, err)
	}
	if written, err := task.EncodeEvent(read.send.Message); err != nil || !bytes.Equal(stored, written) {
		t.Errorf("1.0 read another message (%v):\n%s", err, cmp.Diff(string(stored), string(written)))
	}
}

// FuzzObject reads members of any object: nothing that is refused was taken, and
// both spellings are one.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{"taskId":"x"}`, `{"task_id":"x"}`, `{"taskId":null,"task_id":7}`, `{"pageSize":1e2}`, `{"metadata":{"a":[1]}}`, `{"extensions":["a",null]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		members, ok := wire.Object(body)
		if !ok {
			return
		}
		o := object{"params", members}
		if s, err := o.text("taskId"); err != nil && s != "" {
			t.Errorf("text() = %q, %v", s, err)
		}
		if n, err := o.count("pageSize", 1, 100); n != nil && (err != nil || *n < 1 || *n > 100) {
			t.Errorf("count() = %d, %v", *n, err)
		}
		if list, err := o.texts("extensions"); err == nil && o.raw("extensions") != nil && list == nil {
			t.Error("texts() = nil, want a list")
		}
		if m, err := o.metadata(); err == nil && o.raw("metadata") != nil && m == nil {
			t.Error("metadata() = nil, want an object")
		}
		if members.Has("task_id") && !members.Has("taskId") {
			spelled := object{"params", wire.Members{"taskId": members["task_id"]}}
			a, errA := o.text("taskId")
			b, errB := spelled.text("taskId")
			if a != b || (errA == nil) != (errB == nil) {
				t.Errorf("task_id = %q, %v, and taskId = %q, %v", a, errA, b, errB)
			}
		}
	})
}
