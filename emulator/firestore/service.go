package firestore

import (
	"strings"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/firestore/internal/field"
	"truecost.dev/emulator/firestore/internal/resource"
)

// service is the Firestore API. What it lacks answers UNIMPLEMENTED with the
// name of the method.
type service struct {
	pb.UnimplementedFirestoreServer
	*Server
}

// inDatabase returns INVALID_ARGUMENT unless database is well formed and every
// name lies in it.
func inDatabase(database string, names ...string) error {
	root, err := resource.Database(database)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, root+"/") {
			return invalid("Document name \"" + name + "\" does not lie in database \"" + database + "\".")
		}
	}
	return nil
}

// masked returns what mask leaves of doc; all of it without a mask.
func masked(doc *pb.Document, mask []field.Path, isMasked bool) *pb.Document {
	if !isMasked {
		return doc
	}
	return field.Mask(doc, mask)
}

func invalid(msg string) error { return status.Error(codes.InvalidArgument, msg) }
