package engine

import (
	"strconv"
	"time"
)

// View is what frontends watch on estimates/{id}. It is a function of the
// state, and names follow the published document.
type View struct {
	Status          string            `json:"status"`          // processing, waiting_input, complete, failed, canceled
	CurrentAgent    *string           `json:"currentAgent"`    // first active node; {agent}_failed; nil at the end
	CurrentAgents   []string          `json:"currentAgents"`   // every active node, in flow order
	CompletedAgents []string          `json:"completedAgents"` // in flow order
	AgentStatuses   map[string]string `json:"agentStatuses"`   // pending, running, retrying, waiting_input, completed, skipped, failed
	Progress        int               `json:"progress"`        // 0–100, 100 only when complete
	Scores          map[string]int    `json:"scores"`          // {agent}: latest; {agent}_attempt_{n}: by attempt, from 0
	Retries         map[string]int    `json:"retries"`
	CurrentRetry    int               `json:"currentRetry"`
	Error           *Error            `json:"error"`
	StartedAt       time.Time         `json:"startedAt"`
	LastUpdated     time.Time         `json:"lastUpdated"`
	CompletedAt     *time.Time        `json:"completedAt"`
	Run             int               `json:"run"` // n of the run shown
	Rev             int               `json:"rev"`
	Partial         bool              `json:"partial"`
	Questions       []ViewQuestion    `json:"questions"` // what people are asked now, in flow order
	Hold            *ViewHold         `json:"hold"`      // nil: not held
}

// ViewQuestion is a question as frontends show it.
type ViewQuestion struct {
	InputID   string    `json:"inputId"`
	Agent     string    `json:"agent"`
	Kind      string    `json:"kind"`   // agent, pause, exhausted
	Prompt    string    `json:"prompt"` // its beginning
	ExpiresAt time.Time `json:"expiresAt"`
}

// ViewHold says who holds a run, and why.
type ViewHold struct {
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// Project is the view that frontends watch, written in the commit of the state.
func Project(f *Flow, s State) View {
	v := View{
		Status: viewStatus(s.Status), Error: s.Error, Rev: s.Rev, Run: s.N,
		StartedAt: s.CreatedAt, LastUpdated: s.UpdatedAt, CompletedAt: s.EndedAt,
		AgentStatuses: make(map[string]string, len(f.Nodes)),
		Scores:        make(map[string]int), Retries: make(map[string]int),
		CurrentAgents: []string{}, CompletedAgents: []string{}, Questions: []ViewQuestion{},
	}
	if s.Hold != nil {
		v.Hold = &ViewHold{s.Hold.By, s.Hold.Reason}
	}
	for _, flag := range s.Flags {
		v.Partial = v.Partial || flag == FlagPartial
	}
	done, all := 0, 0
	for _, n := range f.Nodes {
		p := s.Nodes[n.Name]
		all += n.Weight
		if p.Phase.Settled() {
			done += n.Weight
		}
		if p.Phase == Passed || p.Phase == Degraded {
			v.CompletedAgents = append(v.CompletedAgents, n.Name)
		}
		if p.Ask != nil && !s.Status.Ended() {
			v.Questions = append(v.Questions, ViewQuestion{p.Ask.ID, n.Name, string(p.Ask.Kind), p.Ask.Prompt, p.Ask.ExpiresAt})
		}
		v.AgentStatuses[n.Name] = agentStatus(p, s.Status)
		v.Retries[n.Name] = p.Attempt
		for attempt, score := range p.Scores {
			v.Scores[n.Name] = score
			v.Scores[n.Name+"_attempt_"+strconv.Itoa(attempt)] = score
		}
		if active := v.AgentStatuses[n.Name]; active == "running" || active == "retrying" {
			v.CurrentAgents = append(v.CurrentAgents, n.Name)
		}
	}
	if all > 0 {
		v.Progress = 100 * done / all
	}
	v.current(s)
	return v
}

func (v *View) current(s State) {
	switch {
	case s.Status == Completed:
		v.Progress = 100
	case s.Status == Failed && s.Error != nil && s.Error.Agent != "":
		v.CurrentAgent = new(s.Error.Agent + "_failed")
		v.CurrentRetry = v.Retries[s.Error.Agent]
	case len(v.CurrentAgents) > 0:
		v.CurrentAgent = new(v.CurrentAgents[0])
		v.CurrentRetry = v.Retries[v.CurrentAgents[0]]
	}
	if s.Status != Completed {
		v.Progress = min(v.Progress, 99)
	}
}

func viewStatus(s Status) string {
	switch s {
	case Completed:
		return "complete"
	case Failed:
		return "failed"
	case Canceled:
		return "canceled"
	case WaitingInput:
		return "waiting_input"
	default:
		return "processing"
	}
}

func agentStatus(p Progress, run Status) string {
	switch p.Phase {
	case Passed, Degraded:
		return "completed"
	case Skipped:
		return "skipped"
	case NodeFailed:
		return "failed"
	case Blocked:
		return "pending"
	default:
		return activeStatus(p, run)
	}
}

func activeStatus(p Progress, run Status) string {
	switch {
	case run.Ended():
		return "pending" // it was on its way and is no longer
	case p.Phase == Waiting:
		return "waiting_input"
	case p.Attempt > 0, p.Phase == Critiquing:
		return "retrying"
	default:
		return "running"
	}
}
