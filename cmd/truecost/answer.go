package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"

	"truecost.dev/shared/fault"
)

func answerFlags(fs *flag.FlagSet, o *options) {
	fs.BoolVar(&o.accept, "accept", false, "take the best attempt there is, in the place of FILE")
	fs.BoolVar(&o.giveUp, "give-up", false, "have no answer, in the place of FILE")
}

func checkAnswer(c *call) error {
	given := len(c.args) - 2
	for _, flag := range []bool{c.accept, c.giveUp} {
		if flag {
			given++
		}
	}
	if given != 1 {
		return errors.New("wanted one of FILE, -accept and -give-up")
	}
	return checkRunID(c)
}

// runAnswer answers what a run asks a person.
func runAnswer(ctx context.Context, c *call) error {
	data := c.subject()
	data["inputId"] = c.args[1]
	switch {
	case c.accept:
		data["decision"] = "accept"
	case c.giveUp:
		data["decision"] = "give_up"
	default:
		raw, err := c.given(c.args[2])
		if err != nil {
			return err
		}
		data["decision"], data["answer"] = "answer", raw
	}
	var answered struct {
		EstimateID string `json:"estimateId"`
		RunID      string `json:"runId"`
		InputID    string `json:"inputId"`
		Decision   string `json:"decision"`
	}
	return c.control(ctx, "provide_input", data, &answered, func() string {
		return fmt.Sprintf("%s %s: %s", answered.RunID, answered.InputID, answered.Decision)
	})
}

// maxGiven is how large an answer or an edit may be, in bytes.
const maxGiven = 200 << 10

// given reads a JSON document that the user brings.
func (c *call) given(file string) (json.RawMessage, error) {
	raw, err := c.read(file)
	switch {
	case err != nil:
		return nil, err
	case len(raw) > maxGiven:
		return nil, fault.New(fault.Invalid, "%s is longer than %d bytes", name(file), maxGiven)
	case !json.Valid(raw):
		return nil, fault.New(fault.Invalid, "%s is not JSON", name(file))
	}
	return raw, nil
}

// control asks a function to do something to a run and prints what it did.
func (c *call) control(ctx context.Context, function string, data map[string]any, into any, say func() string) error {
	s, err := c.connect(ctx, false)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := c.ask(ctx, s, function, data, into); err != nil {
		return fmt.Errorf("%s %s: %w", c.name, c.args[0], err)
	}
	if c.json {
		return c.printJSON(into)
	}
	_, err = fmt.Fprintln(c.stdout, plain(say()))
	return err
}

// answerCommand is how a question is answered from here.
func answerCommand(run, input, kind string) string {
	command := "truecost answer " + plain(run) + " " + plain(input)
	if kind == "exhausted" {
		return command + " -accept, or -give-up"
	}
	return command + " FILE, or -give-up"
}
