package main

import (
	"flag"
	"fmt"
	"io"
	"net/url"
	"time"

	"truecost.dev/shared/estimate/intake"
)

// options are the flags, with what the environment says in their place.
type options struct {
	json      bool
	url       string // base of the functions; empty: that of the local system
	firestore string // host:port of a Firestore emulator
	inspector string // base of the local system's inspector
	project   string
	user      string
	token     string

	id     string // estimate
	detach bool   // estimate, retry
	dir    string // estimate, pdf: a folder for reports
	export bool   // estimate, pdf
	limit  int    // list, runs
	status string // runs
	from   string // retry: a node
	edit   string // retry: a file
	reason string // hold
	accept bool   // answer
	giveUp bool   // answer
	agents string // flow check
	out    string // flow draw

	skill   string        // ask
	input   string        // ask: JSON, a file or -
	client  string        // ask
	timeout time.Duration // ask
}

// localInspector is where a local system says what runs where.
const localInspector = "http://127.0.0.1:4000"

// flagSet declares the flags of c, silent: run prints what is wrong itself.
func (c *call) flagSet(cmd *command) *flag.FlagSet {
	fs := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.BoolVar(&c.json, "json", false, "print one JSON document on stdout and nothing else")
	fs.StringVar(&c.url, "url", "", "base `address` of the functions; env TRUECOST_URL; otherwise the local system")
	fs.StringVar(&c.firestore, "firestore", "", "`host:port` of a Firestore emulator; env FIRESTORE_EMULATOR_HOST")
	fs.StringVar(&c.inspector, "inspector", localInspector, "`address` of the local system's inspector; env TRUECOST_INSPECTOR")
	fs.StringVar(&c.project, "project", "", "Firestore `project`; env GOOGLE_CLOUD_PROJECT")
	fs.StringVar(&c.user, "user", "", "`id` of the user; env TRUECOST_USER; otherwise local")
	fs.StringVar(&c.token, "token", "", "ID `token` of the user; env TRUECOST_TOKEN")
	if cmd.flags != nil {
		cmd.flags(fs, &c.options)
	}
	return fs
}

// check fills in what the environment says and refuses what cannot be right.
func (c *call) check() error {
	for _, v := range []struct {
		flag *string
		env  string
	}{
		{&c.url, "TRUECOST_URL"},
		{&c.firestore, "FIRESTORE_EMULATOR_HOST"},
		{&c.project, "GOOGLE_CLOUD_PROJECT"},
		{&c.user, "TRUECOST_USER"},
		{&c.token, "TRUECOST_TOKEN"},
	} {
		if *v.flag == "" {
			*v.flag = c.getenv(v.env)
		}
	}
	if env := c.getenv("TRUECOST_INSPECTOR"); env != "" && c.inspector == localInspector {
		c.inspector = env
	}
	for _, a := range [][2]string{{"-url", c.url}, {"-inspector", c.inspector}} {
		u, err := url.Parse(a[1])
		if a[1] != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("%s: %q is not an http or https address", a[0], a[1])
		}
	}
	if c.id != "" && !intake.ValidID(c.id) {
		return fmt.Errorf("-id: %q is not 1 to 128 letters, digits, _ or -", c.id)
	}
	if c.limit < 0 {
		return fmt.Errorf("-n: %d is negative", c.limit)
	}
	return nil
}

// owner is the user whose estimates are meant.
func (c *call) owner() string {
	if c.user == "" {
		return "local" // whom the local system takes anonymous callers for
	}
	return c.user
}
