package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"truecost.dev/emulator/hub"
	"truecost.dev/shared/a2a"
)

// What people may do to a run, from the command line. Estimates whose id begins
// with weak fail at cost until they are tried again; those that begin with pause
// wait for their first agent until a script lets them go.
func TestPeopleScripts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // guards failed
	failed := map[string]bool{}
	weak := a2a.Agent{Name: "cost_scorer", Serve: func(_ context.Context, r a2a.Request) (json.RawMessage, error) {
		mu.Lock()
		defer mu.Unlock()
		if !strings.HasPrefix(r.EstimateID, "weak") || failed[r.EstimateID] {
			return json.RawMessage(`{"score":95,"passed":true,"feedback":"good"}`), nil
		}
		failed[r.EstimateID] = r.Attempt == 2
		return json.RawMessage(`{"score":10,"passed":false,"feedback":"weak"}`), nil
	}}
	paused := func(agent string, r a2a.Request) bool {
		return agent == "location" && strings.HasPrefix(r.EstimateID, "pause")
	}
	st := newStage(t, paused, weak)
	s := start(t, hub.Config{}, st.env())
	st.before(t, s)
	s.scripts(t, "testdata/people", map[string]func(*testscript.TestScript, bool, []string){
		"letgo": func(ts *testscript.TestScript, _ bool, _ []string) {
			<-st.held
			st.open()
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			ts.Check(s.PubSub().Idle(ctx))
		},
	})
}
