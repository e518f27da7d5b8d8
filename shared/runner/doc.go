// Package runner is the loop round the engine. It makes true what the engine
// decides, in the one order that survives a crash at any point:
//
//		message ─▶ load run ─▶ claim step ─▶ call agent ─▶ Next ─▶ commit ─▶ publish ─▶ acknowledge
//		             │ ended, or step not open: catch up, acknowledge          │
//		             └──────────────── anything due and not published ─────────┘
//
//	  - Claim before you pay: a create-only write stands before every call, so a
//	    message delivered twice calls once.
//	  - One commit per fact: result, state, view and outputs change together or
//	    not at all, by compare-and-set on the versions that were read.
//	  - Commit first, publish afterwards: the open steps of the stored state are
//	    the outbox, and a lost message is found again by catchUp and the sweeper.
//	  - The first valid result wins. A later one is kept with its step as late.
//	  - Nothing is kept in memory between two messages, and no goroutine outlives
//	    the handling of one.
//
// Ports (Store, Bus, Caller) are declared here and implemented elsewhere.
package runner
