package events

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// exampleTime is the time in every example.
var exampleTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// The ids in the examples.
const (
	exampleEvent     = "evt_01jgk2m0q5example0event0"
	exampleTenant    = "ten_01jgk2m0q5example0tenant"
	exampleWorkspace = "ws_01jgk2m0q5example0worksp"
	exampleAgent     = "agt_01jgk2m0q5example0agent0"
	exampleSession   = "ses_01jgk2m0q5example0sessio"
	exampleTurn      = "turn_01jgk2m0q5example0turn00"
)

// Example returns a realistic payload of the public type, with every field, for tests of receivers
// and for the documentation; nil for other types.
func Example(t Type) proto.Message {
	build, known := examples[t]
	if !known {
		return nil
	}
	payload := build()
	// Fields that were added to the contract and not to the example.
	fill(payload.ProtoReflect())
	return payload
}

// ExampleBody returns the JSON that endpoints receive for an example; nil for a type that is not
// public.
func ExampleBody(t Type) ([]byte, error) {
	payload := Example(t)
	if payload == nil {
		return nil, nil
	}
	e := Event{ID: exampleEvent, TenantID: exampleTenant, WorkspaceID: exampleWorkspace, Type: t, Payload: payload, CreatedAt: exampleTime}
	if t.TenantWide() {
		e.WorkspaceID = ""
	}
	return Body(e)
}

// absent are fields that examples leave out.
var absent = map[protoreflect.FullName]bool{
	"parlance.v1.PostCallTranscription.transcript_url": true, // only when truncated
	"parlance.v1.CallAnalysis.error":                   true, // only when it failed
}

// fill sets every field of m that is not set. No payload message contains itself.
func fill(m protoreflect.Message) {
	switch known := m.Interface().(type) {
	case *timestamppb.Timestamp:
		if known.GetSeconds() == 0 {
			known.Seconds = exampleTime.Unix()
		}
		return
	case *structpb.Struct:
		if len(known.GetFields()) == 0 {
			known.Fields = map[string]*structpb.Value{"example": structpb.NewStringValue("example")}
		}
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); !m.Has(field) && !absent[field.FullName()] {
			fillField(m, field)
		}
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
