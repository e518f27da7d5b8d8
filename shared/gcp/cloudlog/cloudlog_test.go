package cloudlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
)

func TestLinesAreCloudLoggings(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level]string{
		slog.LevelDebug - 1: "", slog.LevelInfo: "INFO", slog.LevelWarn: "WARNING", slog.LevelError: "ERROR", slog.LevelError + 4: "ERROR",
	} {
		var b bytes.Buffer
		New(&b).LogAttrs(t.Context(), level, "step", slog.String("run", "r~1"), slog.Any("error", errors.New("away")))
		if want == "" {
			if b.Len() > 0 {
				t.Errorf("level %v is logged: %s", level, b.String())
			}
			continue
		}
		var line map[string]any
		if err := json.Unmarshal(b.Bytes(), &line); err != nil {
			t.Fatalf("level %v: %v in %s", level, err, b.String())
		}
		if line["severity"] != want || line["message"] != "step" || line["run"] != "r~1" || line["error"] != "away" || line["time"] == nil {
			t.Errorf("line = %v, want severity %s, message, time and the attributes", line, want)
		}
	}
}
