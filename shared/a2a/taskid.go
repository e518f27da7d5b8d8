package a2a

import (
	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
)

// TaskID returns the task that a call of nobody in particular always has: where
// callers need not say who they are, that is every call. Only a call named by a
// UUID has one; see task.ID.
func TaskID(agent, call string) (id sdk.TaskID, ok bool) { return task.ID(agent, task.Caller{}, call) }
