package mutants

import "slices"

// The packages whose tests notice.
const (
	engine   = "shared/engine"
	runner   = "shared/runner"
	docstore = "shared/gcp/docstore"
)

var table = slices.Concat(claims, commits, gates, fanOuts, people, records, tasks)

// Of claims, leases and calls.
var claims = []mutant{
	{
		name: "no claim", file: "shared/runner/handle.go", pkg: runner, run: "TestTakeOver",
		edits: []edit{{`	held.Step, err = r.Store.PutStep(ctx, fresh)
	if fault.KindOf(err) != fault.Conflict {
`, `	held.Step = fresh
	if r.Pace.Lease > 0 {
`}},
	},
	{
		name: "claim on the run only", file: "shared/runner/handle.go", pkg: runner, run: "TestTakeOver|TestCountsOfAFaultFreeRun",
		edits: []edit{{`	held.Step, err = r.Store.PutStep(ctx, fresh)
	if fault.KindOf(err) != fault.Conflict {
`, `	held.Step = fresh
	if err = r.Store.Commit(ctx, Commit{Run: run}); fault.KindOf(err) != fault.Conflict {
`}},
	},
	{
		name: "take-over with a new call id", file: "shared/runner/handle.go", pkg: runner, run: "TestTakeOver",
		edits: []edit{{`	step.Fence++
	step.Try++
`, `	step.Fence++
	step.Try++
	step.Call += "-again"
`}},
	},
	{
		name: "lease never expiring", file: "shared/runner/runner.go", pkg: runner, run: "TestTakeOver",
		edits: []edit{{`return s.ReadAt.Sub(s.Version) > s.Lease`, `return s.ReadAt.Before(s.Version)`}},
	},
	{
		name: "heartbeat ignoring refusal", file: "shared/runner/execute.go", pkg: runner, run: "TestCancelStopsACallInFlight",
		edits: []edit{{"				cancel(errClaimLost)\n", ""}},
	},
	{
		name: "cancel leaving the claims alone", file: "shared/runner/change.go", pkg: runner, run: "TestCancelStopsACallInFlight",
		edits: []edit{{`c.Touch = append(c.Touch, claim)`, `_ = claim`}},
	},
	{
		name: "ambiguous call repeated", file: "shared/runner/execute.go", pkg: runner, run: "TestAnAmbiguousCall",
		edits: []edit{{`	return w.node.Ambiguous && (`, `	return false && (`}},
	},
	{
		name: "ambiguous call taken over", file: "shared/runner/execute.go", pkg: runner, run: "TestAnExpiredClaim",
		edits: []edit{{`	if held.lost && w.once() {
`, `	if held.lost && w == nil {
`}},
	},
	{
		name: "ambiguous answer asked for again", file: "shared/runner/execute.go", pkg: runner, run: "TestAnAmbiguousCall",
		edits: []edit{{`		case w.once() && a2a.Ambiguous(err):
			return result, errAmbiguous
`, ``}, {`	if err != nil && w.once() && a2a.Ambiguous(err) {
`, `	if err != nil && w == nil {
`}},
	},
	{
		name: "schema repeat under the same call id", file: "shared/runner/execute.go", pkg: runner, run: "TestAnOutputAgainstItsSchema",
		edits: []edit{{`r.call(ctx, step.Agent, RepeatID(step.Run, step.ID), w)`, `r.call(ctx, step.Agent, step.Call, w)`}},
	},
	{
		name: "newer schema handled", file: "shared/runner/flow.go", pkg: runner, run: "TestARunOfANewerSchemaIsLeftAlone",
		edits: []edit{{`run.Schema > engine.Schema`, `run.Schema > engine.Schema+1`}},
	},
}

// Of commits, messages and the sweeper.
var commits = []mutant{
	{
		name: "commit without precondition", file: "shared/gcp/docstore/run.go", pkg: docstore, run: "TestStore/one_of_ten_commits_wins",
		edits: []edit{{`b.writes.Update(ref, updates(m), firestore.LastUpdateTime(r.Version))`, `b.writes.Update(ref, updates(m))`}},
	},
	{
		name: "claim without precondition", file: "shared/gcp/docstore/commit.go", pkg: docstore, run: "TestStore/a_claim_is_created_once",
		edits: []edit{{`		b.writes.Create(ref, doc)
`, `		b.writes.Set(ref, doc)
`}},
	},
	{
		name: "result and state in two commits", file: "shared/runner/record.go", pkg: runner, run: "TestCountsOfAFaultFreeRun",
		edits: []edit{{`		err = r.Store.Commit(ctx, commit)
`, `		steps := commit.Steps
		if err = r.Store.Commit(ctx, Commit{Steps: steps}); err == nil {
			commit.Steps = nil
			err = r.Store.Commit(ctx, commit)
		}
		commit.Steps = steps
`}},
	},
	{
		name: "view written outside the commit", file: "shared/runner/record.go", pkg: runner, run: "TestCountsOfAFaultFreeRun",
		edits: []edit{{`		err = r.Store.Commit(ctx, commit)
`, `		view := commit.View
		commit.View = nil
		if err = r.Store.Commit(ctx, commit); err == nil && view != nil {
			err = r.Store.Commit(ctx, Commit{EstimateID: commit.EstimateID, View: view})
		}
`}},
	},
	{
		name: "publish before commit", file: "shared/runner/record.go", pkg: runner, run: "TestCountsOfAFaultFreeRun",
		edits: []edit{{`		err = r.Store.Commit(ctx, commit)
`, `		_ = r.publish(ctx, p.Flow, &state, effects.Publish)
		err = r.Store.Commit(ctx, commit)
`}},
	},
	{
		name: "publish only before commit", file: "shared/runner/record.go", pkg: runner, run: "TestMessagesThatArriveAtOnce",
		edits: []edit{{`		err = r.Store.Commit(ctx, commit)
`, `		_ = r.publish(ctx, p.Flow, &state, effects.Publish)
		effects.Publish = nil
		err = r.Store.Commit(ctx, commit)
`}},
	},
	{
		name: "stale delivery answered 503", file: "shared/runner/handle.go", pkg: runner, run: "TestStaleMessageCatchesUp",
		edits: []edit{{`	return r.catchUp(ctx, p.Flow, &run.State)
}

// wake`, `	return fault.New(fault.Unavailable, "%s is not open", id)
}

// wake`}},
	},
	{
		name: "wake without catchUp", file: "shared/runner/handle.go", pkg: runner, run: "TestStaleMessageCatchesUp",
		edits: []edit{{`	return r.catchUp(ctx, p.Flow, &run.State)
}

// wake`, `	return nil
}

// wake`}},
	},
	{
		name: "wake that sends nothing", file: "shared/runner/handle.go", pkg: runner, run: "TestDeadLetter",
		edits: []edit{{`	return r.resend(ctx, p, run, r.Pace.Grace, r.Pace.Grace)
`, `	return nil
`}},
	},
	{
		name: "dead letter dropped silently", file: "shared/runner/deadletter.go", pkg: runner, run: "TestDeadLetter",
		edits: []edit{{`	return r.Bus.Publish(ctx, wake)
`, `	_ = wake
	return nil
`}},
	},
	{
		name: "no sweeper", file: "shared/runner/sweep.go", pkg: runner, run: "TestLostPublish",
		edits: []edit{{`	return r.resend(ctx, p, run, 0, p.Flow.LookAfter())
`, `	return nil
`}},
	},
	{
		name: "sweeper ignoring notBefore", file: "shared/runner/message.go", pkg: runner, run: "TestAWaitingStepIsLeftAlone",
		edits: []edit{{` || waits(s.Open[id].NotBefore, now)`, ``}},
	},
	{
		name: "sweeper repeating calls at work", file: "shared/runner/sweep.go", pkg: runner, run: "TestTheSweeperLeavesCallsAtWorkAlone",
		edits: []edit{{`return find(steps, id).atWork() }`, `return false }`}},
	},
	{
		name: "flow not stored", file: "shared/runner/start.go", pkg: runner, run: "TestAFlowOfAnotherBuild",
		edits: []edit{{`	if err := r.store(ctx, p.Flow); err != nil {
`, `	if err := ctx.Err(); err != nil {
`}},
	},
	{
		name: "limit check skipped", file: "shared/runner/start.go", pkg: runner, run: "TestLimits",
		edits: []edit{{`limit := r.limit(ctx, req.Owner); limit != nil`, `limit := r.limit(ctx, ""); limit != nil`}},
	},
	{
		name: "idempotency key ignored", file: "shared/runner/start.go", pkg: runner, run: "TestIdempotencyKey",
		edits: []edit{{`	req.EstimateID = was.EstimateID
`, ``}},
	},
	{
		name: "memory returning another run's payload", file: "shared/runner/payload.go", pkg: runner, run: "TestRunsShareNothing",
		edits: []edit{{`return "step/" + life(s) + "/" + run + "/" + string(id)`, `return "step/" + string(id)`}},
	},
}

// Of the loop of attempts and tries, and of what frontends see.
var gates = []mutant{
	{
		name: "critic after the last attempt", file: "shared/engine/gate.go", pkg: engine, run: "TestScripts",
		edits: []edit{{`	case p.Attempt < n.Gate.Retries:
`, `	case p.Attempt <= n.Gate.Retries:
`}},
	},
	{
		name: "transport error counted as attempt", file: "shared/engine/open.go", pkg: engine, run: "TestScripts",
		edits: []edit{{`		pause = max(n.Retry.Pause(`, `		p := t.state.Nodes[n.Name]
		p.Attempt++
		t.state.Nodes[n.Name] = p
		pause = max(n.Retry.Pause(`}},
	},
	{
		name: "scorer error as pass", file: "shared/engine/gate.go", pkg: engine, run: "TestScripts",
		edits: []edit{{`		t.exhausted(n, p, &Error{Code: CodeValidationFailed, Message: "The output could not be judged: " + e.Failure.Message, Agent: n.Gate.Scorer})
`, `		p.Out = n.Made(p)
		t.pass(n, p)
`}},
	},
	{
		name: "late result applied", file: "shared/engine/next.go", pkg: engine, run: "TestScripts",
		edits: []edit{{`	if _, open := t.state.Open[id]; !open {
		return nil, r, Stale
	}
`, ``}},
	},
	{
		name: "ended run that goes on", file: "shared/engine/next.go", pkg: engine, run: "TestScripts",
		edits: []edit{{`	case s.Status.Ended():
		return Stale
	}
	t.state = s.clone()
`, `	}
	t.state = s.clone()
`}},
	},
	{
		name: "a tie that takes the later attempt", file: "shared/engine/gate.go", pkg: engine, run: "TestRecordedHistories",
		edits: []edit{{`e.Score > p.Scores[p.Best]`, `e.Score >= p.Scores[p.Best]`}},
	},
	{
		name: "needs ignored", file: "shared/engine/next.go", pkg: engine, run: "TestScripts",
		edits: []edit{{`!t.state.Nodes[need].Phase.Settled() })
}`, `false })
}`}},
	},
	{
		name: "conditions ignored", file: "shared/engine/next.go", pkg: engine, run: "TestRecordedHistories",
		edits: []edit{{`			case !n.holds(&t.state):
`, `			case n.holds(&t.state) && p.Phase != Blocked:
`}},
	},
	{
		// Progress is a function of settled nodes and cannot fall; the nearest mistakes
		// are to count nodes at work, which a retry takes back, and to forget some.
		name: "progress recomputed without max", file: "shared/engine/view.go", pkg: engine, run: "TestScripts|TestRandomHistories",
		edits: []edit{{`		if p.Phase.Settled() {
			done += n.Weight
`, `		if p.Phase.Settled() || p.Phase == Scoring {
			done += n.Weight
`}},
	},
	{
		name: "progress without skipped nodes", file: "shared/engine/view.go", pkg: engine, run: "TestScripts",
		edits: []edit{{`		if p.Phase.Settled() {
			done += n.Weight
`, `		if p.Phase.Settled() && p.Phase != Skipped {
			done += n.Weight
`}},
	},
	{
		name: "coalescing dropping an output", file: "shared/engine/next.go", pkg: engine, run: "TestScripts",
		edits: []edit{{` || len(t.effects.Outputs) > 0`, ``}},
	},
	{
		name: "coalescing dropping the end", file: "shared/engine/next.go", pkg: engine, run: "TestScripts",
		edits: []edit{{`s.Rev == 1 || s.Status != Running ||`, `s.Rev == 1 ||`}},
	},
}

// Of fan-outs.
var fanOuts = []mutant{
	{
		name: "join by counter increment", file: "shared/runner/shard.go", pkg: runner, run: "TestAFanOutJoinsInOrder",
		edits: []edit{{`	done, err := r.Store.CompleteShards(ctx, id)
`, `	key := fmt.Sprint("count/", id)
	r.memory.put(key, new(int), 8)
	counter, _ := r.memory.get(key)
	*counter.(*int)++
	done, err := *counter.(*int), ctx.Err()
`}},
	},
	{
		name: "counted before own commit", file: "shared/runner/shard.go", pkg: runner, run: "TestMessagesThatArriveAtOnce",
		edits: []edit{
			{`	switch err := r.Store.Commit(ctx, c); fault.KindOf(err) {
`, `	if err := r.counted(ctx, p, run, node, fan); err != nil {
		return err
	}
	switch err := r.Store.Commit(ctx, c); fault.KindOf(err) {
`},
			{`	if err := r.publish(ctx, p.Flow, &run.State, first); err != nil {
		return err
	}
	return r.counted(ctx, p, run, node, fan)
`, `	return r.publish(ctx, p.Flow, &run.State, first)
`},
		},
	},
	{
		name: "shard bits lost on conflict", file: "shared/runner/chunk.go", pkg: runner, run: "TestChunksOfAShardAtOnce",
		edits: []edit{{`	*shard = fresh[0]
`, `	shard.Version = fresh[0].Version
`}},
	},
	{
		name: "window overrun", file: "shared/engine/shard.go", pkg: engine, run: "TestShardsPartition|TestFanOutFinishes",
		edits: []edit{{`len(s.InFlight) < s.Window`, `len(s.InFlight) <= s.Window`}},
	},
	{
		name: "failed chunk collected against the flow", file: "shared/runner/chunk.go", pkg: runner, run: "TestAChunkThatFails",
		edits: []edit{{`	if !failed || p.Flow.Node(node).FanOut.OnItemError != engine.FailAll {
`, `	if !failed || p.Flow.Node(node).FanOut.OnItemError == engine.FailAll {
`}},
	},
	{
		name: "chunks in flight not sent again", file: "shared/runner/shard.go", pkg: runner, run: "TestTheSweeperFindsChunks",
		edits: []edit{{`			due = append(due, r.forgotten(ctx, &run, node, shard, age)...)
`, `			due = append(due, shardID(node, id.Attempt, shard.Index))
`}},
	},
}

// Of what people do.
var people = []mutant{
	{
		name: "hold ignored by the handler", file: "shared/runner/handle.go", pkg: runner, run: "TestHoldBeforeAnythingBegins",
		edits: []edit{{`run.Status.Ended() || run.Hold != nil {
`, `run.Status.Ended() {
`}},
	},
	{
		name: "hold ignored by the sweeper", file: "shared/runner/message.go", pkg: runner, run: "TestASweepOfAHeldRun",
		edits: []edit{{`	if s.Hold != nil {
		return nil
	}
`, ``}},
	},
	{
		name: "hold ignored by fan-outs", file: "shared/runner/sweep.go", pkg: runner, run: "TestASweepOfAHeldRun",
		edits: []edit{{`		if run.Hold != nil || run.Nodes[n.Name].Phase != engine.Fanning {
`, `		if run.Nodes[n.Name].Phase != engine.Fanning {
`}},
	},
	{
		name: "hold that opens steps", file: "shared/engine/open.go", pkg: engine, run: "TestScripts",
		edits: []edit{{`		if s.Hold == nil || was {
`, `		if s.Hold == nil || was || s.Rev > 0 {
`}},
	},
	{
		name: "answer stored twice", file: "shared/runner/people.go", pkg: runner, run: "TestAnAgentAsks",
		edits: []edit{{`		case inputs[0].Decision != "":
`, `		case inputs[0].Decision == engine.GiveUp:
`}},
	},
	{
		name: "answer of an expired question", file: "shared/runner/people.go", pkg: runner, run: "TestAnswersThatWillNotDo",
		edits: []edit{{`	case !now.Before(in.ExpiresAt):
`, `	case in.ExpiresAt.IsZero():
`}},
	},
	{
		name: "deadline running while waiting for people", file: "shared/engine/next.go", pkg: engine, run: "TestScripts",
		edits: []edit{{`		s.DeadlineAt = s.DeadlineAt.Add(t.now.Sub(*s.WaitSince))
`, ``}},
	},
	{
		name: "deadline passing while waiting for people", file: "shared/engine/next.go", pkg: engine, run: "TestScripts",
		edits: []edit{{`	case t.state.WaitSince != nil || t.now.Before(t.state.DeadlineAt):
`, `	case t.now.Before(t.state.DeadlineAt):
`}},
	},
	{
		name: "question expiring early", file: "shared/engine/input.go", pkg: engine, run: "TestScripts|TestRandomHistories",
		edits: []edit{{`	if !ok || t.now.Before(p.Ask.ExpiresAt) {
`, `	if !ok {
`}},
	},
	{
		name: "carried node called", file: "shared/engine/next.go", pkg: runner, run: "TestManualRetry",
		edits: []edit{{`			t.state.Carried = append(t.state.Carried, n.Name)
`, `			t.state.Carried = append(t.state.Carried, n.Name)
			p = Progress{Phase: Blocked}
`}},
	},
	{
		name: "retry of run not new", file: "shared/runner/retry.go", pkg: runner, run: "TestManualRetry",
		edits: []edit{{`N: parent.N + 1,`, `N: parent.N,`}},
	},
}

// Of what is recorded.
var records = []mutant{
	{
		name: "control without a record", file: "shared/runner/change.go", pkg: runner, run: "TestHold",
		edits: []edit{{`Journal: run.after(e, &state),`, `Journal: run.Journal,`}},
	},
	{
		name: "failed try without a record", file: "shared/runner/record.go", pkg: runner, run: "TestAgentsAwayAndBack",
		edits: []edit{{`		return step, before.after(*a.retry, s)
`, `		return step, before
`}},
	},
	{
		name: "answer without its rev", file: "shared/runner/people.go", pkg: runner, run: "TestAnAgentAsks",
		edits: []edit{{`req.By, &now, state.Rev
`, `req.By, &now, 0
`}},
	},
	{
		name: "journal lost in the store", file: "shared/gcp/docstore/run.go", pkg: runner, run: "TestTheJournalOfPeople",
		edits: []edit{{`json.Marshal(r)`, `json.Marshal(r.State)`}},
	},
	{
		name: "older runs treated like new ones", file: "shared/engine/next.go", pkg: engine, run: "TestRecordedHistories|TestScripts",
		edits: []edit{{`if !t.effects.View || s.Schema < 2 {
`, `if !t.effects.View {
`}},
	},
	{
		name: "address of flows changed", file: "shared/engine/flow.go", pkg: engine, run: "TestRecordedHistories",
		edits: []edit{{"MaxParallel int           `json:\"maxParallel,omitempty\"`", "MaxParallel int           `json:\"maxParallel\"`"}},
	},
}
