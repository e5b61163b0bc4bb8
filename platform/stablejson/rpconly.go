package stablejson

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// withoutRPCOnly returns a message without the fields that only callers of RPC get: the message
// itself when it can have none.
func withoutRPCOnly(message proto.Message) proto.Message {
	if !markedOf(message.ProtoReflect().Descriptor()).rpcOnly {
		return message
	}
	copied := proto.Clone(message)
	clearRPCOnly(copied.ProtoReflect())
	return copied
}

func clearRPCOnly(message protoreflect.Message) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case isRPCOnly(field):
			message.Clear(field)
		case field.Message() == nil || field.IsMap() || !markedOf(field.Message()).rpcOnly:
		case field.IsList():
			for i := range value.List().Len() {
				clearRPCOnly(value.List().Get(i).Message())
			}
		default:
			clearRPCOnly(value.Message())
		}
		return true
	})
}
