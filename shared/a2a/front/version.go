package front

import (
	"net/http"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// version returns the A2A version a caller says it speaks, in a header or in the
// query; empty is 0.3.
func version(r *http.Request) string {
	if v := r.Header.Get(sdk.SvcParamVersion); v != "" {
		return v
	}
	return r.URL.Query().Get(sdk.SvcParamVersion)
}

// early reports whether v is the version in which methods are written with a
// slash.
func early(v string) bool {
	return v == "" || v == "0.3" || strings.HasPrefix(v, "0.3.")
}
