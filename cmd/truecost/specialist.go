package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/fivestep"
)

// cancelTime is how long a task that nobody waits for any more may take to be
// canceled.
const cancelTime = 5 * time.Second

func askFlags(fs *flag.FlagSet, o *options) {
	fs.StringVar(&o.skill, "skill", "", "`id` of the skill that is asked for")
	fs.StringVar(&o.input, "input", "-", "input of the skill: a JSON object, a `file`, or - for stdin")
	fs.DurationVar(&o.timeout, "timeout", 10*time.Minute, "cancel the task when it has not ended after this `time`")
	fs.StringVar(&o.client, "client", "", "`id` to log in with, where the specialist wants that; env TRUECOST_CLIENT_ID;\nits secret is in env TRUECOST_CLIENT_SECRET, a token to send instead in env TRUECOST_SPECIALIST_TOKEN")
}

func checkAsk(c *call) error {
	switch {
	case c.skill == "":
		return fmt.Errorf("-skill: which skill is asked for?")
	case c.timeout <= 0:
		return fmt.Errorf("-timeout: %s is no time to wait", c.timeout)
	}
	return nil
}

// runAsk gives a task to a specialist, shows how it goes and prints what came of
// it. Whoever stops waiting cancels the task.
func runAsk(ctx context.Context, c *call) error {
	input, err := c.inputOf(c.input)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeoutCause(ctx, c.timeout, fault.New(fault.Timeout, "nothing came of it in %s", c.timeout))
	defer stop()
	client := &fivestep.Client{ClientID: c.client, ClientSecret: c.getenv("TRUECOST_CLIENT_SECRET"), Token: c.getenv("TRUECOST_SPECIALIST_TOKEN")}
	if client.ClientID == "" {
		client.ClientID = c.getenv("TRUECOST_CLIENT_ID")
	}
	specialist, err := client.Discover(ctx, c.args[0], c.skill)
	if err != nil {
		return err
	}
	task, err := specialist.Submit(ctx, c.skill, input)
	if err != nil {
		return err
	}
	out := c.stdout
	if c.json {
		out = c.stderr
	}
	show := newProgress(out, c.getenv, task.ID)
	show.line("%s %s", task.ID, task.Status)
	id := task.ID
	task, err = specialist.Listen(ctx, id, show.step)
	show.end()
	if ctx.Err() != nil && !task.Ended() {
		return c.giveUpOn(ctx, specialist, id, err)
	}
	if err != nil {
		return err
	}
	return c.printTask(task)
}

// inputOf reads the input of a skill, given as it is, or as the name of a file.
func (c *call) inputOf(given string) (json.RawMessage, error) {
	raw, err := []byte(given), error(nil)
	if !strings.HasPrefix(strings.TrimSpace(given), "{") {
		if raw, err = c.read(given); err != nil {
			return nil, err
		}
	} else {
		given = "-input"
	}
	if raw = bytes.TrimSpace(raw); !json.Valid(raw) || raw[0] != '{' {
		return nil, fault.New(fault.Invalid, "%s is not a JSON object", name(given))
	}
	return raw, nil
}

// giveUpOn cancels a task because of an interrupt, or because its time is over.
func (c *call) giveUpOn(ctx context.Context, s *fivestep.Specialist, id string, why error) error {
	what := "was canceled"
	cancelCtx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	if _, err := s.Cancel(cancelCtx, id); err != nil {
		what = "could not be canceled: " + err.Error()
	}
	if fault.KindOf(why) == fault.Timeout {
		return fault.Wrap(fault.Timeout, why, "task %s %s", id, what)
	}
	return &interruptedError{fmt.Sprintf("interrupted: task %s %s", id, what)}
}

// step shows an update of a task: its words stay, and on a terminal a bar below
// them says how far it is.
func (p *progress) step(t fivestep.Task) {
	p.clear()
	if t.Ended() {
		p.line("%s %s", p.id, plain(t.Status))
		return
	}
	if words := plain(t.StatusMessage); words != "" && words != p.said {
		p.said = words
		p.line("%3d %%  %s", t.Progress, words)
	}
	p.gauge(t.Progress, "")
}

// printTask prints what came of a task that has ended.
func (c *call) printTask(t fivestep.Task) error {
	var err error
	if c.json {
		err = c.printJSON(t)
	} else {
		err = printArtefacts(c.stdout, t.Artefacts)
	}
	switch {
	case err != nil:
		return err
	case t.Status != "completed" && t.ErrorMessage != "":
		return fault.New(fault.Internal, "task %s %s: %s", t.ID, t.Status, t.ErrorMessage)
	case t.Status != "completed":
		return fault.New(fault.Internal, "task %s %s", t.ID, t.Status)
	}
	return nil
}

// printArtefacts prints artefacts under their names; what is no list of them is
// printed as it is.
func printArtefacts(w io.Writer, raw json.RawMessage) error {
	var list []struct {
		Name string          `json:"name"`
		Data json.RawMessage `json:"data"`
		Text *string         `json:"text"`
		URL  string          `json:"url"`
	}
	if len(raw) == 0 {
		return nil
	}
	var b strings.Builder
	if json.Unmarshal(raw, &list) != nil {
		fmt.Fprintf(&b, "\n%s\n", pretty(raw))
	}
	for _, a := range list {
		text := a.URL
		switch {
		case a.Text != nil:
			text = *a.Text
		case a.Data != nil:
			text = pretty(a.Data)
		}
		fmt.Fprintf(&b, "\n%s\n%s\n", a.Name, strings.TrimRight(text, "\n"))
	}
	if _, err := io.WriteString(w, plainLines(b.String())); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// pretty indents JSON.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw) // unreachable: it was read as JSON
	}
	return b.String()
}
