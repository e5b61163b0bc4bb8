package rpc

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// sent says whether an update request changes the field or something in it: it is named in the
// mask or, without a mask (gRPC clients may leave it out), present in the message.
func sent(mask *fieldmaskpb.FieldMask, field string, present bool) bool {
	if mask == nil {
		return present
	}
	return slices.ContainsFunc(mask.GetPaths(), func(path string) bool {
		return path == field || strings.HasPrefix(path, field+".")
	})
}

// merged is what a field that is a message becomes by an update: replaced when the mask names it,
// or its own fields that the mask names (model.name), or without a mask those that have a value.
// The others stay as they are stored; one that is named and has no value goes back to its default.
func merged[M proto.Message](mask *fieldmaskpb.FieldMask, field string, stored, update M) M {
	if mask != nil && slices.Contains(mask.GetPaths(), field) {
		return update
	}
	to, from := proto.Clone(stored).ProtoReflect(), update.ProtoReflect()
	if mask == nil {
		from.Range(func(inner protoreflect.FieldDescriptor, value protoreflect.Value) bool {
			to.Set(inner, value)
			return true
		})
	}
	for _, path := range mask.GetPaths() {
		if inside, ok := strings.CutPrefix(path, field+"."); ok {
			replace(to, from, inside)
		}
	}
	merged, _ := to.Interface().(M) // a clone of one
	return merged
}

// replace makes the field at path of one message what it is in the other.
func replace(to, from protoreflect.Message, path string) {
	name, rest, nested := strings.Cut(path, ".")
	field := to.Descriptor().Fields().ByName(protoreflect.Name(name))
	switch {
	case field == nil: // refused by the interceptor
	case nested:
		replace(to.Mutable(field).Message(), from.Get(field).Message(), rest)
	case from.Has(field):
		to.Set(field, from.Get(field))
	default:
		to.Clear(field)
	}
}
