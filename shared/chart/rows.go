package chart

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"truecost.dev/shared/engine"
)

// row is one line of a node's box: what it is about, and what it says.
type row struct {
	class string // of the label: work, when, ask, each, gate
	label string
	text  string
}

// rows describes a node from top to bottom. reads are the needs that no arrow
// shows, because another path leads from them to the node.
func rows(n *engine.Node, reads []string) []row {
	all := []row{{"work", "agent", n.Agent}}
	for i, w := range n.When {
		label := "when"
		if i > 0 {
			label = "and"
		}
		all = append(all, row{"when", label, condition(w)})
	}
	if n.Pause != nil {
		all = append(all, row{"ask", "asks", n.Pause.Prompt}, row{"ask", "", "waits " + wait(n.Pause.Expires)})
	}
	if f := n.FanOut; f != nil {
		per := plural(f.Chunk, "item") + " of " + f.Over
		all = append(all, row{"each", "each", per}, row{"each", "", fmt.Sprintf("%d at once, %s", f.MaxParallel, itemError(f.OnItemError))})
	}
	if len(reads) > 0 {
		all = append(all, row{"work", "reads", "also " + strings.Join(reads, ", ")})
	}
	all = append(all, row{"work", "calls", fmt.Sprintf("up to %d, %s each", n.Retry.Tries, short(n.Timeout))})
	if g := n.Gate; g != nil {
		all = append(
			all,
			row{"gate", "scorer", fmt.Sprintf("%s ≥ %d", g.Scorer, g.Threshold)},
			row{"gate", "critic", g.Critic},
			row{"gate", "retries", fmt.Sprintf("%d, then %s", g.Retries, exhausted(g.Exhausted))},
		)
	}
	return all
}

func condition(c engine.Condition) string {
	switch v := c.Value.(type) {
	case nil:
		return c.Fact + " " + string(c.Is)
	case string:
		return c.Fact + " " + string(c.Is) + " " + strconv.Quote(v)
	default:
		return fmt.Sprintf("%s %s %v", c.Fact, c.Is, v)
	}
}

func itemError(e engine.ItemError) string {
	if e == engine.Collect {
		return "failures are left out"
	}
	return "one failure fails all"
}

func exhausted(e engine.Exhausted) string {
	switch e {
	case engine.Degrade:
		return "go on with the best"
	case engine.Ask:
		return "ask a person"
	default:
		return "fail the run"
	}
}

func wait(d time.Duration) string {
	if d == 0 {
		d = 7 * 24 * time.Hour // what the engine takes for none
	}
	return short(d) + " for an answer"
}

// short writes a duration without what is zero: 7d, 1h30m, 90s.
func short(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
