package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
)

// The errors of a real client carry what only it can put into them: how long to
// wait, and whether the call may have arrived. So they come from a real one.

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func callError(f roundTrip) error {
	c := &a2a.Client{HTTP: &http.Client{Transport: f}, BaseURL: "http://agents.invalid"}
	_, err := c.Call(context.Background(), "x", "", a2a.Request{EstimateID: "x"})
	if err == nil {
		panic("the call went through")
	}
	return err
}

// unanswered is the cause of an error that leaves open whether the agent worked.
var unanswered = func() error {
	err := callError(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })
	if !a2a.Ambiguous(err) {
		panic("a lost answer is not ambiguous")
	}
	return errors.Unwrap(err)
}()

// away is what an agent that is too busy answers.
func away(agent string, pause time.Duration) error {
	if pause == 0 {
		return fault.New(fault.Unavailable, "%s is away", agent)
	}
	return callError(func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusTooManyRequests, Body: io.NopCloser(strings.NewReader("{}")),
			Header: http.Header{"Retry-After": {fmt.Sprint(int(pause.Seconds()) + 1)}},
		}, nil
	})
}
