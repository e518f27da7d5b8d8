package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/sethvargo/go-envconfig"

	"truecost.dev/shared/boot"
	"truecost.dev/shared/chart"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/flows"
)

// maxFlow bounds a flow, in bytes.
const maxFlow = 64 << 10

// estimateFlow is the name by which the built-in flow is checked and drawn.
const estimateFlow = "estimate"

var agentList = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}(,[a-z][a-z0-9_]{0,63})*$`)

func flowCheckFlags(fs *flag.FlagSet, o *options) {
	fs.StringVar(&o.agents, "agents", "", "`names` of agents that exist beside TrueCost's own, with commas between")
}

func flowDrawFlags(fs *flag.FlagSet, o *options) {
	fs.StringVar(&o.out, "o", "", "`file` to write; otherwise stdout")
}

func checkFlowAgents(c *call) error {
	if c.agents != "" && !agentList.MatchString(c.agents) {
		return fmt.Errorf("-agents: %q is not a list such as search,fetch", c.agents)
	}
	return nil
}

// runFlowCheck says whether a flow may run, and if not, everything that is wrong
// with it.
func runFlowCheck(ctx context.Context, c *call) error {
	agents := map[string]bool{}
	for _, name := range agentNames() {
		agents[name] = true
	}
	for name := range strings.SplitSeq(c.agents, ",") {
		agents[name] = true
	}
	f, err := c.flow(ctx, c.args[0])
	if err != nil {
		return c.flowProblems(err)
	}
	if err := flows.Check(f, agents); err != nil {
		return c.flowProblems(err)
	}
	if c.json {
		return c.printJSON(flowVerdict{ID: f.ID, Nodes: len(f.Nodes), Agents: f.Agents(), Hash: f.Hash(), Problems: []flows.Problem{}})
	}
	_, err = fmt.Fprintf(c.stdout, "%s: ok: %s, %s, hash %s\n", plain(name(c.args[0])), plural(len(f.Nodes), "node"), plural(len(f.Agents()), "agent"), f.Hash())
	return err
}

// flowVerdict is what flow check prints with -json.
type flowVerdict struct {
	ID       string          `json:"id,omitempty"`
	Nodes    int             `json:"nodes,omitempty"`
	Agents   []string        `json:"agents,omitempty"`
	Hash     string          `json:"hash,omitempty"`
	Problems []flows.Problem `json:"problems"`
}

// badFlowError is a flow that may not run.
type badFlowError struct {
	file string
	*flows.InvalidError
}

func (e *badFlowError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = plain(p.String())
	}
	return fmt.Sprintf("%s may not run:\n%s", e.file, strings.Join(lines, "\n"))
}

// flowProblems says what is wrong with a flow: as JSON on stdout where that is
// wanted, and always by the exit code.
func (c *call) flowProblems(err error) error {
	invalid, ok := errors.AsType[*flows.InvalidError](err)
	if !ok {
		return err
	}
	if c.json {
		if err := c.printJSON(flowVerdict{Problems: invalid.Problems}); err != nil {
			return err
		}
	}
	return &badFlowError{name(c.args[0]), invalid}
}

// runFlowDraw draws a flow as SVG. Its agents need not exist here.
func runFlowDraw(ctx context.Context, c *call) error {
	f, err := c.flow(ctx, c.args[0])
	if err != nil {
		return c.flowProblems(err)
	}
	agents := map[string]bool{}
	for _, name := range f.Agents() {
		agents[name] = true
	}
	if err := flows.Check(f, agents); err != nil {
		return c.flowProblems(err)
	}
	drawn := chart.Flow(f)
	if c.out == "" {
		_, err := c.stdout.Write(drawn)
		return err
	}
	if err := os.WriteFile(c.out, drawn, 0o644); err != nil { //nolint:gosec // G306: a picture that anyone may see
		return fault.New(fault.Invalid, "%v", err)
	}
	return nil
}

// flow reads a flow from a file, from stdin, or, when there is no such file, of
// this program.
func (c *call) flow(ctx context.Context, file string) (*engine.Flow, error) {
	if _, err := os.Stat(file); file == estimateFlow && errors.Is(err, os.ErrNotExist) {
		return builtIn(ctx)
	}
	raw, err := c.read(file)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxFlow {
		return nil, &flows.InvalidError{Problems: []flows.Problem{{Path: "flow", Message: fmt.Sprintf("has more than %d bytes", maxFlow)}}}
	}
	f, err := engine.Parse(raw)
	if err != nil {
		return nil, &flows.InvalidError{Problems: []flows.Problem{{Path: "flow", Message: strings.TrimPrefix(fault.Public(err), "json: ")}}}
	}
	return f, nil
}

// builtIn is the flow of estimates as an operator who sets nothing gets it.
func builtIn(ctx context.Context) (*engine.Flow, error) {
	config, err := boot.Load(ctx, envconfig.MapLookuper(nil))
	if err != nil {
		return nil, err
	}
	p, err := config.Estimate()
	if err != nil {
		return nil, err
	}
	return p.Flow, nil
}
