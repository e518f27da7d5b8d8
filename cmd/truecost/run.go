package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitBadInput    = 2
	exitUnreachable = 3
	exitInterrupted = 130
)

// system is the world of a command: what main takes from the process and a test
// provides.
type system struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	// startLocal starts a local system in this process when none runs; nil when
	// this program cannot.
	startLocal func(context.Context) (endpoints, func(), error)
}

// command is one word of the command line.
type command struct {
	name  string
	args  []string // names of the positional arguments; [NAME] may be left out
	about string
	flags func(*flag.FlagSet, *options) // beside those that every command knows
	check func(*call) error             // of flags and arguments, before anybody is asked; nil: nothing to check
	run   func(context.Context, *call) error
}

// commands lists the commands in the order of the help.
func commands() []command {
	return []command{
		{
			name: "estimate", args: []string{"FILE|-"}, about: "start an estimate, show its progress and its result",
			flags: estimateFlags, check: checkEstimate, run: runEstimate,
		},
		{name: "watch", args: []string{"ID"}, about: "show the progress of an estimate until it ends, and its result", run: runWatch},
		{name: "pdf", args: []string{"ID"}, about: "write the reports for the client and the contractor", flags: pdfFlags, check: checkPDF, run: runPDF},
		{name: "list", about: "list your estimates, the latest first", flags: listFlags, run: runList},
		{name: "runs", about: "list your runs, the latest first", flags: runsFlags, check: checkRuns, run: runRuns},
		{
			name: "run", args: []string{"ID"}, about: "show the history of a run, or of the latest run of an estimate",
			check: checkRunID, run: runRun,
		},
		{
			name: "answer", args: []string{"ID", "INPUT", "[FILE|-]"}, about: "answer what a run asks a person",
			flags: answerFlags, check: checkAnswer, run: runAnswer,
		},
		{name: "hold", args: []string{"ID"}, about: "keep a run from beginning anything new", flags: holdFlags, check: checkHold, run: runHold},
		{name: "resume", args: []string{"ID"}, about: "let a run that is held go on", check: checkRunID, run: runResume},
		{
			name: "retry", args: []string{"ID"}, about: "try a failed or canceled run again, keeping what had passed",
			flags: retryFlags, check: checkRetry, run: runRetry,
		},
		{name: "cancel", args: []string{"ID"}, about: "cancel a run", check: checkRunID, run: runCancel},
		{name: "agents", about: "list the agents and their cards", run: runAgents},
		{name: "call", args: []string{"AGENT", "FILE|-"}, about: "send one message to an agent and print its result", run: runCall},
		{
			name: "ask", args: []string{"URL"}, about: "give a task to a specialist, show its progress and what came of it",
			flags: askFlags, check: checkAsk, run: runAsk,
		},
		{
			name: "flow check", args: []string{"FILE|-"}, about: "say whether a flow may run, and what is wrong with it",
			flags: flowCheckFlags, check: checkFlowAgents, run: runFlowCheck,
		},
		{name: "flow draw", args: []string{"FILE|-"}, about: "draw a flow as SVG", flags: flowDrawFlags, run: runFlowDraw},
		{name: "version", about: "print the version", run: runVersion},
	}
}

// call is one use of a command.
type call struct {
	system
	options
	name string // of the command
	args []string
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, sys system) int {
	if len(args) == 0 {
		usage(sys.stderr)
		return exitBadInput
	}
	name, args := word(args)
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, name) {
		return help(args, sys)
	}
	if name == "-version" || name == "--version" {
		name = "version"
	}
	c := commandByName(name)
	if c == nil {
		_, _ = fmt.Fprintf(sys.stderr, "truecost: there is no command %q\n\n", name)
		usage(sys.stderr)
		return exitBadInput
	}
	in := &call{system: sys, name: name}
	fs := in.flagSet(c)
	positional, err := parse(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		c.usage(sys.stdout)
		return exitDone
	case err == nil && (len(positional) < c.required() || len(positional) > len(c.args)):
		err = fmt.Errorf("wanted %s, got %s", orWords(c.args, "no arguments", "%s"), orWords(positional, "nothing", "%q"))
	}
	in.args = positional
	if err == nil {
		err = in.check()
	}
	if err == nil && c.check != nil {
		err = c.check(in)
	}
	if err != nil {
		_, _ = fmt.Fprintf(sys.stderr, "truecost %s: %v\n\n", name, err)
		c.usage(sys.stderr)
		return exitBadInput
	}
	return in.exit(ctx, c.run(ctx, in))
}

// required is how many arguments the command cannot do without.
func (c *command) required() int {
	n := slices.IndexFunc(c.args, func(name string) bool { return strings.HasPrefix(name, "[") })
	if n < 0 {
		return len(c.args)
	}
	return n
}

// word splits off the name of a command: two words of a group, as "flow draw".
func word(args []string) (name string, rest []string) {
	group := args[0] + " "
	if len(args) > 1 && slices.ContainsFunc(commands(), func(c command) bool { return strings.HasPrefix(c.name, group) }) {
		return group + args[1], args[2:]
	}
	return args[0], args[1:]
}

// orWords lists words, each in a format, or says that there are none.
func orWords(words []string, none, format string) string {
	if len(words) == 0 {
		return none
	}
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = fmt.Sprintf(format, w)
	}
	return strings.Join(list, " ")
}

// parse reads flags before, between and after the positional arguments.
func parse(fs *flag.FlagSet, args []string) (positional []string, err error) {
	var rest []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, rest = args[:i], args[i+1:]
	}
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return append(positional, rest...), nil
		}
		positional = append(positional, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

func commandByName(name string) *command {
	all := commands()
	if i := slices.IndexFunc(all, func(c command) bool { return c.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

func help(args []string, sys system) int {
	if len(args) == 0 {
		usage(sys.stdout)
		return exitDone
	}
	name, _ := word(args)
	c := commandByName(name)
	if c == nil {
		_, _ = fmt.Fprintf(sys.stderr, "truecost: there is no command %q\n\n", name)
		usage(sys.stderr)
		return exitBadInput
	}
	c.usage(sys.stdout)
	return exitDone
}

// usage lists the commands.
func usage(w io.Writer) {
	var b strings.Builder
	b.WriteString("usage: truecost COMMAND [flags] [arguments]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-24s %s\n", strings.Join(append([]string{c.name}, c.args...), " "), c.about)
	}
	fmt.Fprintf(&b, "  %-24s %s\n", "help [COMMAND]", "print this, or the flags of a command")
	_, _ = io.WriteString(w, b.String())
}

// usage describes one command and its flags.
func (c *command) usage(w io.Writer) {
	words := append([]string{"usage: truecost", c.name, "[flags]"}, c.args...)
	_, _ = fmt.Fprintf(w, "%s\n\n%s\n\nflags:\n", strings.Join(words, " "), c.about)
	fs := new(call).flagSet(c)
	fs.SetOutput(w)
	fs.PrintDefaults()
}
