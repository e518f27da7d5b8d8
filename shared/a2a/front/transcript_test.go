package front

import (
	"net/http"
	"os"
	"testing"

	"truecost.dev/internal/transcript"
)

// TestTranscripts plays what every dialect says, byte for byte: each folder of
// testdata/transcripts is one, each file a conversation with a fresh agent.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	dialects, err := os.ReadDir("testdata/transcripts")
	if err != nil || len(dialects) == 0 {
		t.Fatalf("no transcripts (%v)", err)
	}
	for _, d := range dialects {
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			transcript.Play(t, "testdata/transcripts/"+d.Name()+"/*.txtar", func(t *testing.T) http.Handler {
				return newScripted(t, Options{MaxBody: 64 << 10})
			})
		})
	}
}
