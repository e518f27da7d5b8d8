package mutants

const (
	task     = "shared/a2a/task"
	tasktest = "shared/a2a/task/tasktest"
)

// Of agents' tasks.
var tasks = []mutant{
	{
		name: "task written without precondition", file: "shared/gcp/docstore/tasks.go", pkg: docstore, run: "TestRecordAndLogTogether",
		edits: []edit{{`updates(w.fields), firestore.LastUpdateTime(version))`, `updates(w.fields))`}},
	},
	{
		name: "record without its events", file: "shared/gcp/docstore/tasks.go", pkg: docstore, run: "TestRecordAndLogTogether",
		edits: []edit{{`	if w.events != nil {`, `	if w.events != nil && version.IsZero() {`}},
	},
	{
		name: "gap in a log not told", file: "shared/gcp/docstore/tasks_log.go", pkg: docstore, run: "TestLogWithAGap",
		edits: []edit{{`case e.Seq != after+1:`, `case e.Seq <= after-1:`}},
	},
	{
		name: "message of an agent listed as a task", file: "shared/gcp/docstore/tasks.go", pkg: docstore, run: "TestFinder",
		edits: []edit{{`at != nil && r.Reply == nil)`, `at != nil)`}},
	},
	{
		name: "fence of a task ignored", file: "shared/a2a/task/record.go", pkg: task, run: "TestLost",
		edits: []edit{{`case r.Fence == mine.Fence && r.AtWork():`, `case r.AtWork():`}},
	},
	{
		name: "stranger's task found", file: "shared/a2a/task/begin.go", pkg: tasktest, run: "TestMemoryInstances/a_task_is_its_owner's_alone",
		edits: []edit{{`, err == nil && r.Owner != c.ID:`, `:`}},
	},
	{
		name: "submitted again and not queued", file: "shared/a2a/task/begin.go", pkg: task, run: "TestSubmittedAgain",
		edits: []edit{{`case m.queued && r.Queued:`, `case fresh && m.queued && r.Queued:`}},
	},
}
