package pubsub

// BreakJournal makes every change to a server fail as on a disk that takes
// nothing more.
func BreakJournal(s *Server) { _ = s.broker.scribe.journal.Close() }
