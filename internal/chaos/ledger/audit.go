package ledger

import "fmt"

// Audit is what a ledger says about payments.
type Audit struct {
	Boots  int            // processes
	Calls  int            // paid at least once
	Again  int            // messages about a call that had been asked before
	Twice  int            // payments beyond the first of a call, each after a death
	Faults []string       // payments that nothing excuses
	Paid   map[string]int // by call
}

// account is the book of one call.
type account struct {
	asked, paid int
	boot        int  // that paid last
	stored      bool // since then
}

// Check reads the book. A call may be paid again by another process, as long as
// the one that paid before did not live to see its result stored.
func Check(entries []Entry) Audit {
	a := Audit{Paid: map[string]int{}}
	accounts := map[string]*account{}
	for _, e := range entries {
		if e.Kind == Boot {
			a.Boots++
			continue
		}
		c := accounts[e.Call]
		if c == nil {
			c = &account{}
			accounts[e.Call] = c
		}
		switch e.Kind {
		case Asked:
			if c.asked++; c.asked > 1 {
				a.Again++
			}
		case Paid:
			a.pay(e, c)
		case Stored:
			c.stored = true
		default:
		}
	}
	return a
}

func (a *Audit) pay(e Entry, c *account) {
	c.paid++
	a.Paid[e.Call] = c.paid
	switch {
	case c.paid == 1:
		a.Calls++
	case c.stored:
		a.Faults = append(a.Faults, fmt.Sprintf("%s: %s paid again after its result was stored", e.Call, e.Agent))
	case c.boot == e.Boot:
		a.Faults = append(a.Faults, fmt.Sprintf("%s: %s paid twice in one life", e.Call, e.Agent))
	default:
		a.Twice++
	}
	c.boot = e.Boot
}
