package agent

import (
	"maps"
	"strings"

	"truecost.dev/shared/a2a/task"
)

// skill is what goes into the primary and what comes out.
func (f Family[In, Out]) skill() task.Skill {
	s := task.Skill{
		Input:       "a data part with estimate_id and, as members of input: " + strings.Join(f.Needs, ", ") + "; after a critique also critic_feedback",
		Output:      f.Yields,
		InputSchema: requestSchema(nil, object{"critic_feedback": object{"type": []string{"object", "null"}}}), OutputSchema: schemaOf[Out](),
	}
	s.Examples = f.Examples
	return s
}

// scoring is the same of the scorer.
func (f Family[In, Out]) scoring() task.Skill {
	s := task.Skill{
		Input:       "a data part with estimate_id, output (of the " + f.Name + " agent) and input (what that agent was given)",
		Output:      "score from 0 to 100, whether it passes, and each check with its findings",
		InputSchema: requestSchema([]string{"output"}, judged(f.Name)), OutputSchema: schemaOf[Score](),
	}
	s.Examples = []string{"Score this " + f.Name + " output for the estimate it was made for."}
	return s
}

// critique is the same of the critic.
func (f Family[In, Out]) critique() task.Skill {
	members := judged(f.Name)
	members["score"], members["scorer_feedback"] = object{"type": []string{"number", "null"}}, object{"type": "string"}
	s := task.Skill{
		Input:       "what the scorer gets, with its score and scorer_feedback",
		Output:      "issues, why they are wrong, how to fix them, and each finding in a form that code can act on: the critic_feedback of the next attempt",
		InputSchema: requestSchema([]string{"output"}, members), OutputSchema: schemaOf[Critique](),
	}
	s.Examples = []string{"Say what is wrong with this " + f.Name + " output and how to fix it."}
	return s
}

// judged are the members of a request about an output.
func judged(name string) object {
	return object{"agent_name": object{"type": "string", "enum": []string{"", name}}, "output": object{}}
}

// requestSchema is the schema of a request: the members that every agent takes
// and those of this one. Members it does not name are taken and left alone.
func requestSchema(required []string, members object) []byte {
	all := object{
		"estimate_id":     object{"type": "string", "minLength": 1},
		"input":           object{"type": []string{"object", "null"}, "properties": parts(), "description": "instead of it, its members may stand beside estimate_id"},
		"retry_attempt":   object{"type": "integer", "minimum": 0, "description": "0 is the first try"},
		"previous_agents": object{"type": []string{"array", "null"}, "items": object{"type": "string"}},
	}
	maps.Copy(all, members)
	return encoded(object{"$schema": draft, "type": "object", "required": append([]string{"estimate_id"}, required...), "properties": all})
}

// parts are the members of an input of the pipeline of estimates.
func parts() object {
	all := object{"clarification_output": object{"type": "object", "description": "ClarificationOutput 3.0.0: the clarified scope"}}
	for _, name := range []string{"location", "scope", "cost", "risk", "timeline"} {
		all[name+"_output"] = object{"type": []string{"object", "null"}, "description": "what the " + name + " agent returned"}
	}
	return all
}
