package wire

import (
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// Metadata of tasks, messages and statuses as it is kept and as A2A shows it:
// member names of A2A are in camel case, so these are too.
const (
	MetaAgent     = "agent"
	MetaDuration  = "durationMs" // of the work, not of the call
	MetaTokens    = "tokensUsed"
	MetaCost      = "costUsd"
	MetaErrorKind = "errorKind" // a fault.Kind
	MetaRetryable = "retryable"
	MetaSkill     = "skillId"         // of a message: which skill is asked for
	MetaProgress  = "progressPercent" // of a status update: 0 to 100
	MetaCreated   = "createdAt"       // of a task that was queued: RFC 3339
)

// TrueCostMeta are the names that TrueCost's own dialect has for them, and
// always had.
var TrueCostMeta = map[string]string{
	MetaAgent: "agent", MetaDuration: "duration_ms", MetaTokens: "tokens_used", MetaCost: "cost_usd",
	MetaErrorKind: "error_kind", MetaRetryable: "retryable",
}

// Members of the metadata that TrueCost's dialect alone writes, beside those of
// TrueCostMeta.
const (
	MetaContext  = "context_id"
	MetaQuestion = "question"
	MetaState    = "state"
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
