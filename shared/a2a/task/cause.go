package task

// ErrCanceled is the cause of the context of an agent whose task somebody
// canceled: what the agent began elsewhere may end too. When the context ends for
// another reason, another run of the turn may go on with it.
var ErrCanceled error = errCanceled
