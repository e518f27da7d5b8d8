package wire

// Where the five-step protocol answers, below the address of an agent. A card
// tells them to requesters, which read them there. An older form of the protocol
// has the status at /tasks/{id}: in A2A over plain HTTP that is another document,
// and a request says nothing that tells the two apart, so every path here is one
// that A2A does not have.
const (
	FiveStepLogin   = "/login"
	FiveStepSubmit  = "/submit_task"
	FiveStepUpdates = "/task_updates/{task_id}"
	FiveStepStatus  = "/task_status/{task_id}"
	FiveStepCancel  = "/cancel_task/{task_id}"
)
