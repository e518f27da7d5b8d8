package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// progress shows a run: every judged attempt is one line that stays; on a
// terminal a bar below them says what goes on now. The lines of one run are
// the same however many versions of the document were seen.
type progress struct {
	out   io.Writer
	id    string
	bar   bool
	color bool
	drawn bool // a bar stands on the last line

	begun   bool
	printed map[string]int // attempts printed, by agent
	done    map[string]bool
	asked   map[string]bool // questions printed, by id
	held    bool            // the hold was printed
	said    string          // the last words of a specialist
}

func newProgress(out io.Writer, getenv func(string) string, id string) *progress {
	terminal := isTerminal(out) && getenv("TERM") != "dumb"
	return &progress{
		out: out, id: id, bar: terminal, color: terminal && getenv("NO_COLOR") == "",
		printed: map[string]int{}, done: map[string]bool{}, asked: map[string]bool{},
	}
}

// isTerminal reports whether w is a character device other than the null device.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// update shows what is new in d.
func (p *progress) update(d *document) {
	p.clear()
	if !p.begun {
		p.begun = true
		p.line("%s started", p.id)
	}
	for _, agent := range d.Pipeline.agents() {
		p.attempts(d, agent)
	}
	if d.ended() {
		p.line("%s %s", p.id, d.Status)
		return
	}
	p.people(d)
	p.draw(d)
}

// people prints what the run waits for a person to do.
func (p *progress) people(d *document) {
	for _, q := range d.Pipeline.Questions {
		if p.asked[q.InputID] {
			continue
		}
		p.asked[q.InputID] = true
		p.line("%-9s %s: %s", plain(q.Agent), p.paint(yellow, "asks"), plain(q.Prompt))
		p.line("%-9s answer with: %s", "", answerCommand(p.id, q.InputID, q.Kind))
	}
	switch held := d.Pipeline.Hold; {
	case held != nil && !p.held:
		p.line("%s %s", p.id, p.paint(yellow, heldText(held, p.id)))
	case held == nil && p.held:
		p.line("%s goes on", p.id)
	}
	p.held = d.Pipeline.Hold != nil
}

// attempts prints the attempts of an agent whose fate is known.
func (p *progress) attempts(d *document, agent string) {
	if p.done[agent] {
		return
	}
	completed := slices.Contains(d.Pipeline.Completed, agent)
	failed := d.Status == "failed" && d.Pipeline.Error != nil && d.Pipeline.Error.Agent == agent
	for n := p.printed[agent]; ; n++ {
		score, judged := d.Pipeline.Scores[fmt.Sprintf("%s_attempt_%d", agent, n)]
		if !judged {
			break
		}
		last := n >= d.Pipeline.Retries[agent]
		switch {
		case !last:
			p.line("%-9s attempt %d  score %3d  %s", agent, n+1, score, p.paint(yellow, "tried again"))
		case completed:
			p.line("%-9s attempt %d  score %3d  %s", agent, n+1, score, p.paint(green, "done"))
		case failed:
			p.line("%-9s attempt %d  score %3d  %s", agent, n+1, score, p.paint(red, "failed"))
		default:
			return
		}
		p.printed[agent] = n + 1
	}
	if p.done[agent] = completed || failed; p.done[agent] {
		p.settled(d, agent, completed)
	}
}

// settled prints what is known about an agent once it will not work again.
func (p *progress) settled(d *document, agent string, completed bool) {
	if fan, ok := d.Pipeline.FanOut[agent]; ok {
		p.line("%-9s %d of %d chunks", agent, fan.Done, fan.Of)
	}
	if completed && p.printed[agent] == 0 {
		p.line("%-9s went on without a result", agent)
	}
}

func (p *progress) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, format+"\n", args...)
}

const barWidth = 24

// draw puts the bar on the last line, without ending it.
func (p *progress) draw(d *document) {
	p.gauge(d.Pipeline.Progress, d.Pipeline.now())
}

// gauge is a bar of so many percent with words behind it.
func (p *progress) gauge(percent int, now string) {
	if !p.bar {
		return
	}
	full := min(max(percent, 0), 100) * barWidth / 100
	text := fmt.Sprintf("%s%s %3d%%%s", p.paint(green, strings.Repeat("█", full)), strings.Repeat("░", barWidth-full), percent, now)
	_, _ = io.WriteString(p.out, noWrap+text+wrap) // one line, however narrow, so that clear finds it
	p.drawn = true
}

// now says what goes on behind the bar.
func (p *pipeline) now() string {
	var text string
	switch a := p.CurrentAgent; {
	case p.Hold != nil:
		text = "  held"
	case a == nil && len(p.Questions) > 0:
		text = "  waits for an answer"
	case a == nil:
	default:
		text = "  " + *a
		if p.CurrentRetry > 0 {
			text += fmt.Sprintf("  retry %d", p.CurrentRetry)
		}
		if score, ok := p.Scores[*a]; ok {
			text += fmt.Sprintf("  last score %d", score)
		}
		if fan, ok := p.FanOut[*a]; ok {
			text += fmt.Sprintf("  %d of %d chunks", fan.Done, fan.Of)
		}
	}
	return text
}

// Whether the terminal breaks a line that is too long for it.
const (
	noWrap = "\x1b[?7l"
	wrap   = "\x1b[?7h"
)

// clear takes the bar away.
func (p *progress) clear() {
	if p.drawn {
		_, _ = io.WriteString(p.out, "\r\x1b[K")
		p.drawn = false
	}
}

// end leaves the terminal as a shell expects it.
func (p *progress) end() { p.clear() }

const (
	red    = 31
	green  = 32
	yellow = 33
	usual  = 39
)

func (p *progress) paint(color int, s string) string {
	if !p.color {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", color, s)
}
