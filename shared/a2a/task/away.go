package task

import (
	"truecost.dev/shared/fault"
)

// away turns an error of the store, the finder or what opens them into one that
// callers may read: what they say names places of ours, and that they do not let
// us in says nothing of whether the caller may.
func away(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	if kind := fault.KindOf(err); kind.Transient() || kind == fault.Canceled {
		return fault.Wrap(fault.Unavailable, err, "the task store is away; try again")
	}
	return fault.Wrap(fault.Internal, err, doing, args...)
}

// unfollowed is away for who follows a task, which may be removed meanwhile.
func unfollowed(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return fault.Wrap(fault.NotFound, err, "the task, or what happened in it, is no longer kept")
	}
	return away(err, "follow a task")
}
