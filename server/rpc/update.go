package rpc

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/seal"
)

// sent reports whether an update request changes a field or something in it. The mask names it,
// or, without a mask (gRPC clients may leave it out), the message has it.
func sent(mask *fieldmaskpb.FieldMask, field string, present bool) bool {
	if mask == nil {
		return present
	}
	return slices.ContainsFunc(mask.GetPaths(), func(path string) bool {
		return path == field || strings.HasPrefix(path, field+".")
	})
}

// changed returns the new value of a field that an update request changes, nil for one that it
// keeps. A field that is named and has no value gets the zero value.
func changed[T any](mask *fieldmaskpb.FieldMask, field string, value *T) *T {
	switch {
	case !sent(mask, field, value != nil):
		return nil
	case value == nil:
		return new(T)
	}
	return value
}

// changedList is changed for a list or a map, which is present unless it is empty.
func changedList[L []string | map[string]string | map[string]seal.Secret](mask *fieldmaskpb.FieldMask, field string, list L) *L {
	if !sent(mask, field, len(list) > 0) {
		return nil
	}
	return &list
}

// intOf returns an optional number as an int.
func intOf(n *int32) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

// expectedVersions reads If-Match: the versions of which the resource must have one; nil for any.
// Errors: Invalid invalid-request.
func expectedVersions(ctx context.Context) ([]int, error) {
	call, ok := connect.CallInfoForHandlerContext(ctx)
	if !ok {
		return nil, nil
	}
	lines := call.RequestHeader().Values("If-Match")
	header := strings.Join(lines, ",")
	if len(lines) == 0 || strings.TrimSpace(header) == "*" { // an empty one is a tag that got lost
		return nil, nil
	}
	var versions []int
	for tag := range strings.SplitSeq(header, ",") {
		// A proxy that compresses an answer puts W/ before its ETag.
		quoted := strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		version, err := strconv.Atoi(strings.Trim(quoted, `"`))
		if err != nil || quoted != strconv.Quote(strconv.Itoa(version)) {
			return nil, fault.InvalidField("If-Match", "invalid", `If-Match must be the ETag of an answer, such as "3" with its quotes, or *.`)
		}
		versions = append(versions, version)
	}
	return versions, nil
}

// change is a field of an update request; apply sets it.
type change struct {
	field   string
	present bool
	apply   func()
}

// applyChanges applies the changes of the fields that an update request changes.
func applyChanges(mask *fieldmaskpb.FieldMask, changes []change) {
	for _, c := range changes {
		if sent(mask, c.field, c.present) {
			c.apply()
		}
	}
}

// merged returns what an update makes of a field that is a message. It is replaced if the mask
// names it. Otherwise the mask names fields of it (model.name), or, without a mask, those with a
// value are changed; the others keep their stored values. A field that is named and has no value
// gets its default.
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

// replace copies the field at path from one message to the other.
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
