package store

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// locks is who may read and write what while transactions are open. Open
// transactions hold shared locks on the documents they have read; a commit
// needs every document it writes free of the locks of others for the instant in
// which it is applied, and waits for that in turn. All of it is guarded by the
// lock of the store.
type locks struct {
	open    map[string]*tx
	holders map[string]map[*tx]struct{} // by document
	queue   []*waiter                   // oldest first
}

// waiter is a read or a commit that wants locks.
type waiter struct {
	tx    *tx // nil for a commit outside of any transaction
	names []string
	write bool
	wake  chan struct{} // holds a token when something has been released
}

func newLocks() locks {
	return locks{open: map[string]*tx{}, holders: map[string]map[*tx]struct{}{}}
}

func (l *locks) share(name string, t *tx) {
	if l.holders[name] == nil {
		l.holders[name] = map[*tx]struct{}{}
	}
	l.holders[name][t] = struct{}{}
}

// release drops what t holds and lets the waiters look again.
func (l *locks) release(t *tx) {
	delete(l.open, t.id)
	for name := range t.docs {
		delete(l.holders[name], t)
		if len(l.holders[name]) == 0 {
			delete(l.holders, name)
		}
	}
	l.wakeAll()
}

func (l *locks) wakeAll() {
	for _, w := range l.queue {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// expire ends the transactions whose clients have gone.
func (l *locks) expire(now int64) {
	for _, t := range l.open {
		if t.expired(now) {
			l.release(t)
		}
	}
}

// lockExclusive waits until the batch may be applied. The caller holds mu, which
// is given up while waiting.
func (s *Store) lockExclusive(ctx context.Context, t *tx, batch []*mutation) error {
	if s.optimistic || (len(s.locks.holders) == 0 && len(s.locks.queue) == 0) {
		return nil
	}
	w := &waiter{tx: t, write: true}
	for _, m := range batch {
		w.names = append(w.names, m.name)
	}
	return s.acquire(ctx, w)
}

// acquire waits for w's turn. It returns ABORTED when waiting would never end
// or has taken too long. The caller holds mu, which is given up while waiting.
func (s *Store) acquire(ctx context.Context, w *waiter) error {
	if !s.locks.blocked(w) {
		return nil
	}
	if s.locks.deadlock(w) {
		return status.Error(codes.Aborted, "Transaction aborted: it waits for a transaction that waits for it.")
	}
	w.wake = make(chan struct{}, 1)
	s.locks.queue = append(s.locks.queue, w)
	defer func() {
		s.locks.queue = slices.DeleteFunc(s.locks.queue, func(x *waiter) bool { return x == w })
		s.locks.wakeAll()
	}()
	timeout := time.NewTimer(s.lockTimeout)
	defer timeout.Stop()
	for s.locks.blocked(w) {
		if err := s.wait(ctx, w.wake, timeout.C); err != nil {
			return err
		}
		s.locks.expire(s.clock.read())
	}
	return nil
}

// wait gives mu up until there is something to look at.
func (s *Store) wait(ctx context.Context, wake <-chan struct{}, timeout <-chan time.Time) error {
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-wake:
		return nil
	case <-timeout:
		return status.Error(codes.Aborted, "Transaction lock timeout.")
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

func (l *locks) blocked(w *waiter) bool {
	stop := false
	l.blockers(w, func(*tx) { stop = true }, func(*waiter) { stop = true })
	return stop
}

// blockers calls held for every other transaction that holds what w wants to
// write, and ahead for every waiter that stands before w with a conflicting
// wish: a stream of readers cannot starve a writer. One that waits for the
// transaction of w itself does not count: it cannot go first.
func (l *locks) blockers(w *waiter, held func(*tx), ahead func(*waiter)) {
	if w.write {
		for _, name := range w.names {
			for t := range l.holders[name] {
				if t != w.tx {
					held(t)
				}
			}
		}
	}
	for _, x := range l.queue {
		if x == w {
			return
		}
		if (w.write || x.write) && overlap(w.names, x.names) && !l.waitsFor(x, w.tx) {
			ahead(x)
		}
	}
}

// waitsFor tells whether x wants to write what t holds.
func (l *locks) waitsFor(x *waiter, t *tx) bool {
	if t == nil || !x.write || x.tx == t {
		return false
	}
	return slices.ContainsFunc(x.names, func(name string) bool {
		_, holds := l.holders[name][t]
		return holds
	})
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

// deadlock tells whether the transaction of w would, through others, wait for
// itself. Every cycle is closed by its last waiter, so asking once is enough.
func (l *locks) deadlock(w *waiter) bool {
	if w.tx == nil {
		return false
	}
	seen := map[*waiter]bool{w: true}
	found := false
	var visit func(*waiter)
	visit = func(x *waiter) {
		l.blockers(x, func(t *tx) {
			found = found || t == w.tx
			for _, y := range l.queue {
				if y.tx == t && !seen[y] {
					seen[y] = true
					visit(y)
				}
			}
		}, func(y *waiter) {
			if !seen[y] {
				seen[y] = true
				visit(y)
			}
		})
	}
	visit(w)
	return found
}
