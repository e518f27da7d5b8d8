package boot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretIsNotShown(t *testing.T) {
	t.Parallel()
	c := Config{CardKey: "hunter2"}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).InfoContext(t.Context(), "config", slog.Any("key", c.CardKey), slog.Any("config", c))
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{log.String(), string(raw), fmt.Sprintf("%v %+v %#v %s %q %x", c, c, c, c.CardKey, c.CardKey, c.CardKey)} {
		if strings.Contains(shown, "hunter2") || strings.Contains(shown, fmt.Sprintf("%x", "hunter2")) {
			t.Errorf("the secret shows: %s", shown)
		}
	}
}
