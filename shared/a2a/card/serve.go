package card

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// Where cards and keys are, below the address of an agent.
const (
	Path      = "/.well-known/agent-card.json" // A2A 0.3 and later
	EarlyPath = "/.well-known/agent.json"      // A2A 0.2, five-step, TrueCost
	KeysPath  = "/.well-known/jwks.json"
)

// file is what is served at a path: bytes and their tag.
type file struct {
	body []byte
	etag string
}

func newFile(body []byte) file {
	sum := sha256.Sum256(body)
	return file{body: body, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

// ServeHTTP answers requests for the well-known paths, whatever stands before
// them.
func (c *Cards) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if f, ok := c.files[path[max(0, strings.LastIndex(path, "/.well-known/")):]]; ok {
		f.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write([]byte(`{"error":"there is no such card"}`)) // the caller has gone if this fails
}

// ServeHTTP answers GET and HEAD, with 304 for a caller who has the file.
func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("X-Content-Type-Options", "nosniff")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		header.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
		header.Set("Access-Control-Allow-Headers", "A2A-Version, Authorization, If-None-Match")
		header.Set("Access-Control-Max-Age", "3600")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		header.Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusMethodNotAllowed)
		_, _ = w.Write([]byte(`{"error":"cards are read with GET"}`)) // the caller has gone if this fails
		return
	}
	header.Set("Access-Control-Expose-Headers", "ETag")
	header.Set("Cache-Control", "public, max-age=300")
	header.Set("ETag", f.etag)
	if f.known(r.Header.Values("If-None-Match")) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(f.body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(f.body) // the caller has gone if this fails
	}
}

// known reports whether one of the tags that a caller has is this file's.
func (f file) known(tags []string) bool {
	for _, line := range tags {
		for tag := range strings.SplitSeq(line, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == f.etag || tag == "*" {
				return true
			}
		}
	}
	return false
}
