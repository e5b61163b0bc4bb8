package events

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// exampleTime is in every example; it is nobody's.
var exampleTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Example is a payload of the public type with something in every field, for tests of
// receivers; nil for any other type.
func Example(t Type) proto.Message {
	payload := NewPayload(t)
	if payload != nil {
		fill(payload.ProtoReflect())
	}
	return payload
}

// fill puts something into every field of m. No payload message contains itself.
func fill(m protoreflect.Message) {
	switch known := m.Interface().(type) {
	case *timestamppb.Timestamp:
		known.Seconds = exampleTime.Unix()
		return
	case *structpb.Struct:
		known.Fields = map[string]*structpb.Value{"example": structpb.NewStringValue("example")}
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fillField(m, fields.Get(i))
	}
}

func fillField(m protoreflect.Message, field protoreflect.FieldDescriptor) {
	switch {
	case field.IsList():
		list := m.Mutable(field).List()
		if field.Kind() == protoreflect.MessageKind {
			fill(list.AppendMutable().Message())
			return
		}
		list.Append(exampleValue(field))
	case field.IsMap():
		key := protoreflect.ValueOfString("example").MapKey()
		if field.MapValue().Kind() == protoreflect.MessageKind {
			fill(m.Mutable(field).Map().Mutable(key).Message())
			return
		}
		m.Mutable(field).Map().Set(key, exampleValue(field.MapValue()))
	case field.Kind() == protoreflect.MessageKind:
		fill(m.Mutable(field).Message())
	default:
		m.Set(field, exampleValue(field))
	}
}

// exampleValue is 1 for numbers and "example" for strings; flags stay off.
func exampleValue(field protoreflect.FieldDescriptor) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("example")
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(1)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(1)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(1)
	default:
		return field.Default()
	}
}
