package store

import (
	"fmt"
	"maps"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"truecost.dev/emulator/firestore/internal/field"
	"truecost.dev/emulator/firestore/internal/resource"
	"truecost.dev/emulator/firestore/internal/value"
)

// action is what a write does to its document.
type action int

const (
	update    action = iota // set fields, then transform
	transform               // transform what is there
	remove                  // delete
	verify                  // check the precondition only
)

// mutation is a write that has been read and checked as far as it can be
// without knowing the document.
type mutation struct {
	action     action
	name       string
	fields     map[string]*pb.Value
	masked     bool // an empty mask differs from none: it writes no field
	mask       []field.Path
	transforms []fieldTransform
	current    *pb.Precondition
}

// prepare reads a write. It returns INVALID_ARGUMENT for one that could not be
// applied to any document.
func prepare(w *pb.Write) (*mutation, error) {
	m := &mutation{name: DocumentOf(w), current: w.GetCurrentDocument()}
	var raw []*pb.DocumentTransform_FieldTransform
	switch o := w.GetOperation().(type) {
	case *pb.Write_Update:
		m.action = update
		m.fields = make(map[string]*pb.Value, len(o.Update.GetFields()))
		for k, v := range o.Update.GetFields() {
			m.fields[k] = value.Truncate(v)
		}
		raw = w.GetUpdateTransforms()
	case *pb.Write_Transform:
		m.action = transform
		raw = o.Transform.GetFieldTransforms()
	case *pb.Write_Delete:
		m.action = remove
	default:
		m.action = verify
	}
	if err := resource.CheckDocument(m.name); err != nil {
		return nil, err
	}
	if m.current.GetUpdateTime().GetNanos()%1000 != 0 {
		return nil, invalid("timestamp cannot have more than microseconds precision")
	}
	var err error
	if mask := w.GetUpdateMask(); mask != nil && m.action == update {
		m.masked = true
		if m.mask, err = parseMask(mask.GetFieldPaths()); err != nil {
			return nil, err
		}
	}
	m.transforms, err = prepareTransforms(raw)
	return m, err
}

// DocumentOf returns the name of the document that a write is about.
func DocumentOf(w *pb.Write) string {
	switch o := w.GetOperation().(type) {
	case *pb.Write_Update:
		return o.Update.GetName()
	case *pb.Write_Transform:
		return o.Transform.GetDocument()
	case *pb.Write_Delete:
		return o.Delete
	default:
		return verifyName(w)
	}
}

func parseMask(paths []string) ([]field.Path, error) {
	mask, err := field.ParseAll(paths)
	if err != nil {
		return nil, err
	}
	for _, p := range mask {
		if p[0] == field.DocumentName {
			return nil, invalid("Cannot modify the document name through an update mask.")
		}
	}
	return mask, nil
}

// verifyField is the number of Write.verify, the name of a document whose
// precondition is checked without writing it. Browsers send it for documents
// that a transaction reads; the public Go stubs do not know it.
const verifyField = 5

func verifyName(w *pb.Write) string {
	unknown := w.ProtoReflect().GetUnknown()
	for len(unknown) > 0 {
		num, typ, n := protowire.ConsumeTag(unknown)
		if n < 0 {
			return ""
		}
		unknown = unknown[n:]
		if num == verifyField && typ == protowire.BytesType {
			name, _ := protowire.ConsumeString(unknown)
			return name
		}
		if n = protowire.ConsumeFieldValue(num, typ, unknown); n < 0 {
			return ""
		}
		unknown = unknown[n:]
	}
	return ""
}

// apply returns what the write makes of cur at the commit time (nil: deleted)
// and its result. It changes neither m nor cur. A write that changes nothing
// returns cur itself. Stored is the document before the commit: versions are
// compared with it, so that several writes can name the same one.
func (m *mutation) apply(stored, cur *pb.Document, at int64) (*pb.Document, *pb.WriteResult, error) {
	if err := m.checkPrecondition(stored, cur); err != nil {
		return nil, nil, err
	}
	switch m.action {
	case remove:
		return nil, &pb.WriteResult{}, nil
	case verify:
		if cur == nil {
			return nil, &pb.WriteResult{UpdateTime: value.Time(at)}, nil
		}
		return cur, &pb.WriteResult{UpdateTime: cur.GetUpdateTime()}, nil
	case update, transform:
	}
	fields := m.base(cur)
	results := make([]*pb.Value, len(m.transforms))
	for i, t := range m.transforms {
		var v *pb.Value
		v, results[i] = t.apply(t.path.Get(fields), at)
		t.path.Set(fields, v)
	}
	if cur != nil && value.IdenticalFields(cur.GetFields(), fields) {
		return cur, &pb.WriteResult{UpdateTime: cur.GetUpdateTime(), TransformResults: results}, nil
	}
	if err := value.CheckDocument(m.name, fields); err != nil {
		return nil, nil, err
	}
	now := value.Time(at)
	doc := &pb.Document{Name: m.name, Fields: fields, CreateTime: now, UpdateTime: now}
	if cur != nil {
		doc.CreateTime = cur.GetCreateTime()
	}
	return doc, &pb.WriteResult{UpdateTime: now, TransformResults: results}, nil
}

// base returns the fields before transforms, in a map of its own.
func (m *mutation) base(cur *pb.Document) map[string]*pb.Value {
	if m.action == update && !m.masked {
		return maps.Clone(m.fields)
	}
	fields := maps.Clone(cur.GetFields())
	if fields == nil {
		fields = map[string]*pb.Value{}
	}
	own := field.Own{}
	for _, p := range m.mask {
		p.SetIn(fields, p.Get(m.fields), own)
	}
	return fields
}

func (m *mutation) checkPrecondition(stored, cur *pb.Document) error {
	switch c := m.current.GetConditionType().(type) {
	case *pb.Precondition_Exists:
		if c.Exists && cur == nil {
			return status.Error(codes.NotFound, "No document to update: "+m.name)
		}
		if !c.Exists && cur != nil {
			return status.Error(codes.AlreadyExists, "Document already exists: "+m.name)
		}
	case *pb.Precondition_UpdateTime:
		have, want := value.Micros(stored.GetUpdateTime()), value.Micros(c.UpdateTime)
		if stored != nil && want > have {
			return invalid("Invalid base version, it is greater than the stored version: " + m.name)
		}
		if stored == nil || want != have {
			return status.Error(codes.FailedPrecondition,
				fmt.Sprintf("the stored version (%d) does not match the required base version (%d)", have, want))
		}
	}
	return nil
}
