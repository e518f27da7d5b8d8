package runner

import "time"

// RunQuery selects runs, the latest first. What is zero does not select.
type RunQuery struct {
	Owner      string
	Status     string // of engine.Status
	FlowID     string
	EstimateID string
	Since      time.Time // created then or later
	Limit      int       // at most so many; 0 is no bound
	After      string    // id of a run: what follows it
}
