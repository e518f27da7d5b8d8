package estimate

import "time"

// Agents lists the six primary agents in the order of the pipeline.
var Agents = [...]string{"location", "scope", "cost", "risk", "timeline", "final"}

// Context is what an agent of the pipeline may know: the clarified scope and
// the outputs of the agents before it. An output that does not exist yet is nil.
type Context struct {
	EstimateID    string
	Now           time.Time // for stamps such as generatedAt; no number may depend on it
	Clarification *Clarification
	Location      *Location
	Scope         *Scope
	Cost          *Cost
	Risk          *Risk
	Timeline      *Timeline
}
