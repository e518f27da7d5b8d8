package transcript

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the responses of transcripts")

// Play plays every transcript that fits the pattern against a handler of its
// own, which open makes. It fails if no file fits.
func Play(t *testing.T, pattern string, open func(t *testing.T) http.Handler) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcript fits %s (%v)", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			play(t, file, open(t))
		})
	}
}

func play(t *testing.T, file string, h http.Handler) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Comment) == 0 || len(archive.Files) == 0 || len(archive.Files)%2 != 0 {
		t.Fatalf("%s: want a comment and pairs of request and response", file)
	}
	for i := 0; i < len(archive.Files); i += 2 {
		ask, want := archive.Files[i], &archive.Files[i+1]
		if ask.Name != "request" || want.Name != "response" {
			t.Fatalf("%s: sections %s, %s, want request, response", file, ask.Name, want.Name)
		}
		r, err := parse(t.Context(), ask.Data)
		if err != nil {
			t.Fatalf("%s: request %d: %v", file, i/2+1, err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := format(w)
		if *update {
			want.Data = got
		} else if diff := cmp.Diff(string(want.Data), string(got)); diff != "" {
			t.Errorf("%s: response %d (-want +got):\n%s", file, i/2+1, diff)
		}
	}
	if *update {
		//nolint:gosec // a source file, for everyone to read
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// parse reads a request: a line with method and path, headers, an empty line,
// the body.
func parse(ctx context.Context, text []byte) (*http.Request, error) {
	top, body, _ := bytes.Cut(text, []byte("\n\n"))
	first, rest, _ := strings.Cut(strings.TrimSuffix(string(top), "\n"), "\n")
	method, path, ok := strings.Cut(first, " ")
	if !ok {
		return nil, fmt.Errorf("first line %q, want a method and a path", first)
	}
	r := httptest.NewRequestWithContext(ctx, method, path, bytes.NewReader(bytes.TrimSuffix(body, []byte("\n"))))
	if rest == "" {
		return r, nil
	}
	for line := range strings.SplitSeq(rest, "\n") {
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("line %q, want a header", line)
		}
		r.Header.Add(textproto.CanonicalMIMEHeaderKey(name), value)
	}
	return r, nil
}

func format(w *httptest.ResponseRecorder) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, w.Code)
	header := w.Result().Header
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if name != "Content-Length" && name != "X-Content-Type-Options" {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(header[name], ", "))
		}
	}
	if body := w.Body.Bytes(); len(body) > 0 {
		fmt.Fprintf(&b, "\n%s\n", body)
	}
	return b.Bytes()
}
