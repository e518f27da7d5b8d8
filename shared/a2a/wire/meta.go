package wire

import (
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// Metadata of a task, in the names of TrueCost's own dialect.
const (
	MetaAgent     = "agent"
	MetaDuration  = "duration_ms" // of the work, not of the call
	MetaTokens    = "tokens_used"
	MetaCost      = "cost_usd"
	MetaErrorKind = "error_kind" // a fault.Kind
	MetaRetryable = "retryable"
	MetaContext   = "context_id"
	MetaQuestion  = "question"
	MetaState     = "state"
)

// Metadata of messages and statuses, in the names of A2A 1.0.
const (
	MetaSkill    = "skillId"         // of a message: which skill is asked for
	MetaProgress = "progressPercent" // of a status update: 0 to 100
)

// ResultName names the artifact that carries what an agent returned.
const ResultName = "result"

// Word turns TASK_STATE_INPUT_REQUIRED into input-required, the words of A2A 0.x.
func Word(s sdk.TaskState) string {
	w := strings.ToLower(strings.TrimPrefix(string(s), "TASK_STATE_"))
	if w == "" || w == "unspecified" {
		return "unknown"
	}
	return strings.ReplaceAll(w, "_", "-")
}
