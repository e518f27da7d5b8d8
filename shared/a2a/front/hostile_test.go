package front

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/template"
)

// hostileRow is one line of testdata/hostile.txt.
type hostileRow struct {
	dialect, name, request, body, want string
}

// hostileMethods are what {{send}} calls in each dialect.
var hostileMethods = map[string]string{"v1rpc": "SendMessage", "plain": "message/send", "v03rpc": "message/send", "truecost": "message/send"}

// hostileMessages are the messages of {{parts}}, without their parts, where they
// are not those of 1.0, and hostileConfigured those of {{configured}}.
var (
	hostileMessages   = map[string]string{"v03rpc": `"kind":"message","messageId":"m","role":"user"`, "truecost": `"role":"user"`}
	hostileConfigured = map[string]string{"v03rpc": `[{"kind":"text","text":"x"}]`}
)

// hostileRows reads the tables.
func hostileRows(t testing.TB) []hostileRow {
	t.Helper()
	var text []byte
	for _, file := range []string{"testdata/hostile.txt", "testdata/hostile_early.txt"} {
		more, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, more...)
	}
	var rows []hostileRow
	var section hostileRow
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			section.dialect, section.request, _ = strings.Cut(line[1:], "] ")
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			t.Fatalf("%q has %d cells, want 4", line, len(cells))
		}
		row := section
		row.name, row.body, row.want = strings.TrimSpace(cells[0]), strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])
		if r := strings.TrimSpace(cells[1]); r != "" {
			row.request = r
		}
		row.body = hostileBody(t, row)
		rows = append(rows, row)
	}
	return rows
}

// hostileBody fills in the template of a body.
func hostileBody(t testing.TB, row hostileRow) string {
	t.Helper()
	method, members, content := hostileMethods[row.dialect], hostileMessages[row.dialect], hostileConfigured[row.dialect]
	if members == "" {
		members = `"messageId":"m","role":"ROLE_USER"`
	}
	if content == "" {
		content = `[{"text":"x"}]`
	}
	send := func(message string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"message":` + message + `}}`
	}
	fill, err := template.New(row.name).Funcs(template.FuncMap{
		"rep":   func(n int, s string) string { return strings.Repeat(s, n) },
		"nest":  func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) },
		"bytes": func(s string) string { return s },
		"send":  send,
		"parts": func(list string) string { return send("{" + members + `,"parts":` + list + `}`) },
		"configured": func(c string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"configuration":` + c +
				`,"message":{` + members + `,"parts":` + content + `}}}`
		},
	}).Parse(row.body)
	if err != nil {
		t.Fatalf("%s: %v", row.name, err)
	}
	var b strings.Builder
	if err := fill.Execute(&b, nil); err != nil {
		t.Fatalf("%s: %v", row.name, err)
	}
	return b.String()
}

// hostileRequest makes the request of a row.
func hostileRequest(t *testing.T, row hostileRow) *http.Request {
	t.Helper()
	cells := strings.Split(row.request, " ; ")
	method, path, _ := strings.Cut(cells[0], " ")
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(row.body))
	for _, h := range cells[1:] {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	return r
}

// hostileAnswer is an error in any of the forms that dialects have for one.
type hostileAnswer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	name    string          // code or reason
	message string
}

func readAnswer(t *testing.T, w *httptest.ResponseRecorder) hostileAnswer {
	t.Helper()
	var a hostileAnswer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("body %.300q is no JSON object: %v", w.Body, err)
	}
	var status struct {
		Code    json.Number
		Message string
		Details []struct{ Reason string }
	}
	switch {
	case a.Error == nil:
	case a.Error[0] == '"': // five-step
		a.name = "-"
		_ = json.Unmarshal(a.Error, &a.message)
	default:
		if err := json.Unmarshal(a.Error, &status); err != nil {
			t.Fatalf("error %s: %v", a.Error, err)
		}
		a.name, a.message = status.Code.String(), status.Message
		if a.JSONRPC == "" && len(status.Details) > 0 {
			a.name = status.Details[0].Reason
		}
	}
	return a
}

// inner is what an answer must never show: stacks, packages, files, addresses.
var inner = regexp.MustCompile(`goroutine \d|panic|\.go:\d|runtime|truecost\.dev/|strconv\.|json: |unmarshal|invalid character|base64 data|0x[0-9a-f]{6}`)

func TestHostileInput(t *testing.T) {
	t.Parallel()
	rows := hostileRows(t)
	if len(rows) < 150 {
		t.Fatalf("the table has %d rows, want at least 150", len(rows))
	}
	h := newScripted(t, Options{MaxBody: 256 << 10})
	for i, row := range rows {
		t.Run(fmt.Sprintf("%s/%d %s", row.dialect, i, row.name), func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, hostileRequest(t, row))
			checkHostile(t, row, w)
		})
	}
}

func checkHostile(t *testing.T, row hostileRow, w *httptest.ResponseRecorder) {
	t.Helper()
	media := "application/json"
	if row.dialect == "v1rest" && row.want == "ok" {
		media = mediaA2A
	}
	if got := w.Header().Get("Content-Type"); got != media {
		t.Errorf("Content-Type %q, want %s", got, media)
	}
	if found := inner.FindString(w.Body.String()); found != "" {
		t.Errorf("answer %s shows %q", w.Body, found)
	}
	got := readAnswer(t, w)
	if row.want == "ok" {
		if w.Code != http.StatusOK || got.Error != nil {
			t.Errorf("HTTP %d, %s, want it served", w.Code, w.Body)
		}
		return
	}
	status, rest, _ := strings.Cut(row.want, " ")
	name, says, _ := strings.Cut(rest, " ")
	if id, after, ok := strings.Cut(strings.TrimPrefix(says, "id="), " "); ok && strings.HasPrefix(says, "id=") {
		says = after
		if string(got.ID) != id {
			t.Errorf("id %s, want %s", got.ID, id)
		}
	}
	if strconv.Itoa(w.Code) != status || got.name != name || !strings.Contains(got.message, says) {
		t.Errorf("HTTP %d, %s %q, want %s, %s about %q", w.Code, got.name, got.message, status, name, says)
	}
	if w.Code == http.StatusMethodNotAllowed && w.Header().Get("Allow") == "" {
		t.Error("HTTP 405 without Allow")
	}
}
