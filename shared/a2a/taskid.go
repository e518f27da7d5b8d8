package a2a

import (
	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"
)

// TaskID returns the task that a message to an agent always has. Only a message
// whose id is a UUID has one: such ids are unique by construction, while
// careless callers send 1 again and again.
func TaskID(agent, messageID string) (id sdk.TaskID, ok bool) {
	key, err := uuid.Parse(messageID)
	if err != nil || len(messageID) != len(key.String()) {
		return "", false
	}
	return sdk.TaskID(uuid.NewSHA1(key, []byte("truecost task of "+agent)).String()), true
}
