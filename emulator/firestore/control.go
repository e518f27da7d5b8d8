package firestore

import (
	"encoding/json"
	"io"
	"net/http"

	"truecost.dev/emulator/firestore/internal/resource"
)

// control is what the port answers to HTTP/1: readiness, and the wipe path of
// the official emulator.
func (s *Server) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "Ok\n")
	})
	mux.HandleFunc("DELETE /emulator/v1/projects/{project}/databases/{database}/documents", s.wipe)
	return mux
}

// wipe deletes every document of one database; listeners see it.
func (s *Server) wipe(w http.ResponseWriter, r *http.Request) {
	root, err := resource.Database("projects/" + r.PathValue("project") + "/databases/" + r.PathValue("database"))
	if err != nil {
		http.Error(w, "no such database", http.StatusBadRequest)
		return
	}
	n, err := s.store.Wipe(root)
	if err != nil {
		http.Error(w, "the wipe cannot be kept", http.StatusInternalServerError)
		return
	}
	s.counts.add("wipe", Count{Calls: 1, Deletes: n})
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct{}{})
}
