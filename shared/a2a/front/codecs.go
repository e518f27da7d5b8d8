package front

import "truecost.dev/shared/a2a/task"

// codecsOf returns the dialects that an agent is served in. They are asked in
// this order and the first that detects a request has it: those that go by the
// path come before those that go by a header, and those before the ones that
// look into the body.
func codecsOf(agent task.Agent) []codec {
	return []codec{
		newFiveStep(agent),
		earlyREST{},
		v1REST{},
		v1RPC{},
		trueCost{},
		earlyRPC{},
	}
}
