package pubsub

import "truecost.dev/emulator/journal"

// BreakJournal makes every change to a server fail as on a disk that takes
// nothing more.
func BreakJournal(s *Server) { _ = s.broker.scribe.journal.Close() }

// Restore reads a record of the journal into an empty server, and returns what a
// snapshot of it holds.
func Restore(b []byte) ([]byte, error) {
	r := &restorer{broker: newBroker(nil, Faults{}), backlog: map[uint64]*entry{}}
	if err := r.restore(b); err != nil {
		return nil, err
	}
	r.finish()
	r.scribe.journal = new(journal.Journal) // only asked whether it is there
	var all []byte
	for record, err := range r.snapshot() {
		if err != nil {
			return nil, err
		}
		all = append(all, record...)
	}
	return all, nil
}
