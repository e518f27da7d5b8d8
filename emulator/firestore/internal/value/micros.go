package value

import (
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Micros returns t in microseconds since 1970, rounded down; 0 for nil.
func Micros(t *timestamppb.Timestamp) int64 {
	return t.GetSeconds()*1e6 + int64(t.GetNanos())/1000
}

// Time returns the wire form of a time in microseconds since 1970.
func Time(micros int64) *timestamppb.Timestamp {
	return timestamppb.New(time.UnixMicro(micros))
}

// Truncate returns v with every timestamp in it cut to microseconds, which is
// all the service stores. It returns v itself when there is nothing to cut.
func Truncate(v *pb.Value) *pb.Value {
	switch x := v.GetValueType().(type) {
	case *pb.Value_TimestampValue:
		t := x.TimestampValue
		if t.GetNanos()%1000 == 0 {
			return v
		}
		return NewTimestamp(&timestamppb.Timestamp{Seconds: t.GetSeconds(), Nanos: t.GetNanos() / 1000 * 1000})
	case *pb.Value_ArrayValue:
		return truncateArray(v, x.ArrayValue.GetValues())
	case *pb.Value_MapValue:
		return truncateMap(v, x.MapValue.GetFields())
	default:
		return v
	}
}

func truncateArray(v *pb.Value, in []*pb.Value) *pb.Value {
	var out []*pb.Value
	for i, e := range in {
		t := Truncate(e)
		if t != e && out == nil {
			out = append(make([]*pb.Value, 0, len(in)), in...)
		}
		if out != nil {
			out[i] = t
		}
	}
	if out == nil {
		return v
	}
	return NewArray(out)
}

func truncateMap(v *pb.Value, in map[string]*pb.Value) *pb.Value {
	var changed map[string]*pb.Value
	for k, e := range in {
		t := Truncate(e)
		if t == e {
			continue
		}
		if changed == nil {
			changed = make(map[string]*pb.Value, len(in))
		}
		changed[k] = t
	}
	if changed == nil {
		return v
	}
	for k, e := range in {
		if _, ok := changed[k]; !ok {
			changed[k] = e
		}
	}
	return NewMap(changed)
}
