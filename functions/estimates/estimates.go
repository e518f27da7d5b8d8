package estimates

import (
	"context"
	"encoding/json"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// Store is what the callables read and delete of estimates.
type Store interface {
	// Estimate returns the fields of an estimate; fault.NotFound when there is none.
	Estimate(ctx context.Context, id string) (map[string]any, error)

	// Items returns every document of a sub-collection, by id.
	Items(ctx context.Context, estimate, collection string) ([]json.RawMessage, error)

	// Output returns the visible output of an agent; fault.NotFound when there is
	// none.
	Output(ctx context.Context, estimate, agent string) (json.RawMessage, error)

	// ProjectEstimate returns the estimate that a project shows; fault.NotFound
	// when it shows none.
	ProjectEstimate(ctx context.Context, project string) (string, error)

	// PutReport keeps a file beside the estimate, in the place of one of that name.
	PutReport(ctx context.Context, estimate, name, mediaType string, report []byte) error

	// Delete removes the estimate with everything that was made for it.
	Delete(ctx context.Context, id string) error
}

// Runs is what the callables read of runs.
type Runs interface {
	// Run loads a run; fault.NotFound when there is none.
	Run(ctx context.Context, id string) (runner.Run, error)

	// Runs finds runs, the latest first.
	Runs(ctx context.Context, q runner.RunQuery) ([]runner.Run, error)

	// History returns every step of a run without its payloads, by RevAt.
	History(ctx context.Context, run string) ([]runner.Step, error)

	// RunInputs returns what people were asked in a run, and what they edited.
	RunInputs(ctx context.Context, run string) ([]runner.Input, error)

	// Flow loads a stored flow by its hash; fault.NotFound when there is none.
	Flow(ctx context.Context, hash string) (*engine.Flow, error)
}

// Ports are opened at the first call.
type Ports struct {
	Runner func() (*runner.Runner, error)
	Store  func() (Store, error)
	Runs   func() (Runs, error)
}

// Callables returns the functions of this package.
func Callables(p Ports) []callable.Func {
	return []callable.Func{
		{Name: "start_deep_pipeline", Handle: p.start},
		{Name: "get_pipeline_status", Handle: p.status},
		{Name: "cancel_pipeline", Handle: p.cancel},
		{Name: "delete_estimate", Handle: p.delete},
		{Name: "generate_pdf", Handle: p.pdf},
		{Name: "export_estimate", Handle: p.export},
		{Name: "list_runs", Handle: p.listRuns},
		{Name: "get_run", Handle: p.getRun},
		{Name: "retry_pipeline", Handle: p.retry},
		{Name: "provide_input", Handle: p.answer},
		{Name: "hold_pipeline", Handle: p.hold},
		{Name: "resume_pipeline", Handle: p.resume},
	}
}

// envelope is the published form of success.
type envelope struct {
	Success bool `json:"success"`
	Data    any  `json:"data"`
}

func success(data any) (any, error) { return envelope{true, data}, nil }
