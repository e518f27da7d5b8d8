package front

import (
	"net/http"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
)

// sniff chooses the codec of a request: by its path, then by its headers, then
// by its body. With an error it returns the codec that words the error.
func sniff(codecs []codec, r request) (codec, error) {
	if foreign(r.path) {
		return v1REST{}, noRoute(r)
	}
	for _, c := range codecs {
		if c.detect(r) {
			return c, nil
		}
	}
	if r.http.Method != http.MethodPost {
		if r.path == "/" {
			return voice(codecs, r), wrongMethod("POST, OPTIONS")
		}
		return v1REST{}, noRoute(r)
	}
	top, err := r.object()
	if _, rpc := top["jsonrpc"]; err == nil && !rpc && r.path != "/" {
		return v1REST{}, noRoute(r)
	}
	if err == nil {
		err = stranger(r)
	}
	return voice(codecs, r), err
}

// stranger says why no codec knows a JSON-RPC request.
func stranger(r request) error {
	h, err := wire.HeadOf(r.top)
	if err != nil {
		return err
	}
	v := version(r.http)
	switch {
	case !early(v) && !current(v):
		return wrongVersion()
	case v1Methods[h.Method] != nil:
		return wire.Refuse(http.StatusOK, wire.CodeMethodNotFound, "method: %s needs the header %s: 1.0", h.Method, sdk.SvcParamVersion)
	}
	return wire.Refuse(http.StatusOK, wire.CodeMethodNotFound, "method: this agent has no such method")
}

// voice returns the codec that words what is refused before the body is read.
func voice(codecs []codec, r request) codec {
	r.top = nil
	for _, c := range codecs {
		if c.detect(r) {
			return c
		}
	}
	switch {
	case r.http.Method != http.MethodPost && r.path != "/", foreign(r.path):
		return v1REST{}
	case early(version(r.http)):
		return earlyRPC{}
	}
	return v1RPC{}
}

// foreign reports whether a path belongs to a protocol that is not served.
func foreign(path string) bool {
	for _, prefix := range []string{"/agent-to-agent/", "/salesops/", "/components/"} {
		if strings.HasPrefix(path+"/", prefix) {
			return true
		}
	}
	return false
}

// current reports whether v is 1.0; patch numbers do not count.
func current(v string) bool { return v == "1.0" || strings.HasPrefix(v, "1.0.") }

func wrongVersion() error {
	return wire.Refuse(http.StatusOK, wire.CodeVersion, "%s: this agent speaks 1.0 and 0.3", sdk.SvcParamVersion)
}

func noRoute(r request) error {
	return wire.Refuse(http.StatusOK, wire.CodeMethodNotFound, "%s %s: this agent has no such route", r.http.Method, r.path)
}
