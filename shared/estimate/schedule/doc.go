// Package schedule turns the hours of a priced bill into a schedule.
//
//	cost lines ─▶ activities ─▶ network ─▶ CPM ─▶ dates
//	 (hours,       (crew, days)  (FS, SS,          (five-day week, holidays,
//	  trade, code)                lag, waits)       permits and leads in calendar days,
//	                                                weather by month)
//	                               └─▶ trials: the longest path of 10,000 networks
//
// The activities and what follows what are those of the catalogue
// (schedule_logic); an activity the job has not is bridged. A duration is
// ceil(hours / (crew × 8 × 0.85)), at least the catalogue's minimum; exterior
// work also takes the days that the weather of its months is expected to cost.
//
// Invariants: the network has one start and one finish; the critical path is a
// longest path and the duration its length; tasks start and end on working
// days; every id is the same in every estimate. Everything is a function of the
// context and the seed.
package schedule
