package browse

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/research"
)

// deadline of one task: a search, three rounds of pages and an extraction, each
// at its slowest.
const deadline = 90 * time.Second

// Progress of a task, in percent, as requesters know it.
const (
	preparing  = 10
	searching  = 30
	extracting = 70
	finished   = 100
)

// Schemas of the skill, JSON Schema 2020-12.
var (
	//go:embed input.schema.json
	inputSchema []byte

	//go:embed output.schema.json
	outputSchema []byte
)

// Agent returns the agent. desk is asked at each task, and is expected to open
// once: its search may be an index in memory.
func Agent(desk func() (research.Desk, error)) task.Agent {
	return task.Agent{
		Name: "browse", Title: "Browse and extract", Version: "1.0.0",
		Description: "Searches a topic, reads the pages found and extracts what an instruction asks for, with quotes that stand in their pages.",
		Skills:      []task.Skill{skill()},
		Check: func(msg *sdk.Message) error {
			_, err := inputOf(msg)
			return err
		},
		Run: func(ctx context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
			return func(yield func(sdk.Event, error) bool) { run(ctx, turn, desk, yield) }
		},
		Deadline: deadline,
	}
}

func skill() task.Skill {
	return task.Skill{
		AgentSkill: sdk.AgentSkill{
			ID: "browse_extract", Name: "Browse and extract",
			Description: "Searches for a topic and extracts from the pages found what the instruction asks for. Every quote is checked against its page.",
			Tags:        []string{"search", "research", "extraction", "citations"},
			Examples: []string{
				`{"search_topic":"bid bond","extraction_instruction":"What is the usual amount, in percent of the bid price?"}`,
			},
		},
		Input:       "search_topic, what to search for; extraction_instruction, what to extract from the pages; optionally max_results (1 to 10, default 3) and freshness_days",
		Output:      "extracted_data with marks [n], citations with the quotes behind them, search_results_summary, and whether the extraction is grounded",
		InputSchema: inputSchema, OutputSchema: outputSchema,
	}
}

// run does the work of one turn.
func run(ctx context.Context, turn task.Turn, open func() (research.Desk, error), yield func(sdk.Event, error) bool) {
	in, err := inputOf(turn.Message)
	if err != nil {
		yield(nil, err)
		return
	}
	if !yield(status(turn, sdk.TaskStateWorking, preparing, "Preparing the search."), nil) {
		return
	}
	desk, err := open()
	if err != nil {
		yield(nil, fmt.Errorf("open the search: %w", err))
		return
	}
	listens := true
	result, err := desk.Answer(ctx, in.question(turn.Received), func(s research.Step, pages int) bool {
		switch s {
		case research.Searching:
			listens = yield(status(turn, sdk.TaskStateWorking, searching, fmt.Sprintf("Searching for %q.", in.Topic)), nil)
		case research.Extracting:
			listens = yield(status(turn, sdk.TaskStateWorking, extracting, fmt.Sprintf("Extracting from %s.", count(pages, "page"))), nil)
		case research.Reading: // requesters know no word for it
		}
		return listens
	})
	if !listens {
		return
	}
	if err != nil {
		yield(nil, err)
		return
	}
	raw, err := json.Marshal(result)
	if err != nil {
		yield(nil, fmt.Errorf("encode the result: %w", err))
		return
	}
	words := fmt.Sprintf("Extracted %s from %s.", count(len(result.Citations), "quote"), count(len(result.Summary), "page"))
	if yield(artifact(turn, raw), nil) {
		yield(status(turn, sdk.TaskStateCompleted, finished, words), nil)
	}
}

// status says how far the task is. Its message has the same id in every run.
func status(turn task.Turn, state sdk.TaskState, percent int, words string) *sdk.TaskStatusUpdateEvent {
	return &sdk.TaskStatusUpdateEvent{
		TaskID: turn.TaskID, ContextID: turn.ContextID, Metadata: map[string]any{wire.MetaProgress: percent},
		Status: sdk.TaskStatus{State: state, Message: &sdk.Message{
			ID: fmt.Sprintf("%s/%d", turn.Message.ID, percent), TaskID: turn.TaskID, ContextID: turn.ContextID,
			Role: sdk.MessageRoleAgent, Parts: sdk.ContentParts{sdk.NewTextPart(words)},
		}},
	}
}

// artifact is the result. Its id is always the same, so that a second run
// replaces what the first one left.
func artifact(turn task.Turn, result json.RawMessage) *sdk.TaskArtifactUpdateEvent {
	return &sdk.TaskArtifactUpdateEvent{
		TaskID: turn.TaskID, ContextID: turn.ContextID, LastChunk: true,
		Artifact: &sdk.Artifact{ID: wire.ResultName, Name: wire.ResultName, Parts: sdk.ContentParts{sdk.NewDataPart(result)}},
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
