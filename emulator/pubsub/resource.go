package pubsub

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxPage is how many resources a page holds at most, and without a size.
const maxPage = 1000

// What an update may change; the rest of a resource is immutable.
var (
	topicFields        = []string{"labels", "message_storage_policy", "kms_key_name", "message_retention_duration"}
	subscriptionFields = []string{
		"push_config", "ack_deadline_seconds", "retain_acked_messages", "message_retention_duration",
		"labels", "expiration_policy", "dead_letter_policy", "retry_policy",
	}
)

// merge copies the fields named by paths from src to dst, absent ones too.
func merge(dst, src proto.Message, paths, mutable []string) error {
	if len(paths) == 0 {
		return invalid("The update_mask in the request must be set and must contain at least one field.")
	}
	to, from := dst.ProtoReflect(), src.ProtoReflect()
	for _, path := range paths {
		if !slices.Contains(mutable, path) {
			return invalid("Invalid update_mask provided in the request: %q is not a known mutable field.", path)
		}
		field := to.Descriptor().Fields().ByName(protoreflect.Name(path))
		if from.Has(field) {
			to.Set(field, from.Get(field))
		} else {
			to.Clear(field)
		}
	}
	return nil
}

// names returns the names of the resources of a project, sorted.
func names[T any](resources map[string]T, project string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(resources)), func(n string) bool {
		return !strings.HasPrefix(n, project+"/")
	})
}

// page cuts a page out of sorted names. A token is the last name of the page
// before.
func page(all []string, size int32, token string) (names []string, next string, err error) {
	if size < 0 {
		return nil, "", invalid("Invalid page size given: %d.", size)
	}
	if size == 0 || size > maxPage {
		size = maxPage
	}
	start, found := slices.BinarySearch(all, token)
	if found {
		start++
	}
	all = all[start:]
	if len(all) <= int(size) {
		return all, "", nil
	}
	return all[:size], all[size-1], nil
}
