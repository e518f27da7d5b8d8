package docstore

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/shared/fault"
)

// exists reports whether a document was not created because it is there.
func exists(err error) bool { return status.Code(err) == codes.AlreadyExists }

// rpcFault gives an error of the client its kind.
func rpcFault(err error, format string, args ...any) error {
	kind := fault.Internal
	switch status.Code(err) {
	case codes.NotFound:
		kind = fault.NotFound
	case codes.AlreadyExists, codes.FailedPrecondition, codes.Aborted:
		kind = fault.Conflict
	case codes.InvalidArgument, codes.OutOfRange:
		kind = fault.Invalid
	case codes.PermissionDenied, codes.Unauthenticated:
		kind = fault.Denied
	case codes.ResourceExhausted:
		kind = fault.Exhausted
	case codes.Unavailable:
		kind = fault.Unavailable
	case codes.DeadlineExceeded:
		kind = fault.Timeout
	case codes.Canceled:
		kind = fault.Canceled
	default:
		if k := fault.KindOf(err); k != fault.Internal {
			kind = k
		}
	}
	return fault.Wrap(kind, err, format, args...)
}
