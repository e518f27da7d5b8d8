// Package timeline is the timeline agent with its scorer and critic: activities
// with dates, the critical path, and how long the job may take instead.
//
// The primary plans (see shared/estimate/schedule). The rubric computes the
// critical path and the calendar again from the tasks themselves, and plans the
// cost again where it is at hand.
package timeline
