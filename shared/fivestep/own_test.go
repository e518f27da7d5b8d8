package fivestep_test

import (
	"net/http"
	"strings"
)

// stubborn is a specialist that streams the same text every time.
type stubborn string

func (s stubborn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "agent.json") {
		_, _ = w.Write([]byte(`{"endpoints":{"submit_task":"/s","task_updates":"/u/{task_id}"},"skills":[{"id":"browse_extract"}]}`))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write([]byte(s))
}
