package research

import (
	"context"
	"fmt"
	"strings"
)

// Extract quotes the sentences of each source that answer the question, each on
// a line of its own with the mark of its source. Without any the draft is empty.
// Quotes that were rejected are not drawn again.
func (Extractive) Extract(ctx context.Context, q Question, sources []Source, rejected []Quote) (Draft, error) {
	asked := askedFor(q.Topic, q.Instruction)
	refused := map[Quote]bool{}
	for _, r := range rejected {
		refused[r] = true
	}
	var draft Draft
	var lines []string
	for _, s := range sources {
		if ctx.Err() != nil {
			return Draft{}, stopped(ctx)
		}
		for _, text := range best(s.Title, s.Text, asked) {
			quote := Quote{N: s.N, Text: text}
			if refused[quote] {
				continue
			}
			draft.Quotes = append(draft.Quotes, quote)
			lines = append(lines, fmt.Sprintf("%s [%d]", text, s.N))
		}
	}
	draft.Answer = strings.Join(lines, "\n")
	return draft, nil
}

// Snippet returns what a page says on a topic, in at most two sentences; its
// beginning where it says nothing.
func Snippet(title, text, topic string) string {
	found := best(title, text, askedFor(topic))
	if len(found) == 0 {
		return Line(text, maxSnippet)
	}
	return Line(strings.Join(found[:min(len(found), 2)], " … "), maxSnippet)
}
