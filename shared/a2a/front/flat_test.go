package front

import (
	"encoding/json"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// The result of a task is what the artifact of that name holds, else the last
// data, else the last words.
func TestResultOf(t *testing.T) {
	t.Parallel()
	made := func(name string, parts ...*sdk.Part) *sdk.Artifact { return &sdk.Artifact{Name: name, Parts: parts} }
	data := func(s string) *sdk.Part { return sdk.NewDataPart(json.RawMessage(s)) }
	tests := []struct {
		name string
		made []*sdk.Artifact
		want string
	}{
		{"nothing", nil, `{"text":""}`},
		{"words", []*sdk.Artifact{made("a", sdk.NewTextPart("one")), made("b", sdk.NewTextPart("two"))}, `{"text":"two"}`},
		{"data", []*sdk.Artifact{made("a", data(`1`)), made("b", sdk.NewTextPart("two")), made("c", data(`2`))}, `2`},
		{"result", []*sdk.Artifact{made("a", data(`1`)), made("result", data(`2`)), made("c", data(`3`))}, `2`},
		{"result of words", []*sdk.Artifact{made("a", data(`1`)), made("result", sdk.NewTextPart("two")), made("c", data(`3`))}, `3`},
	}
	for _, tt := range tests {
		if got := string(resultOf(&sdk.Task{Artifacts: tt.made})); got != tt.want {
			t.Errorf("resultOf(%s) = %s, want %s", tt.name, got, tt.want)
		}
	}
}
