package interceptor

import (
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/fault"
)

// maskField is the field of an update request that holds the fields sent.
const maskField = "update_mask"

// checkMask refuses a path of update_mask that is not a field of the request. A handler looks for
// the fields it knows, so a misspelt path would answer 200 and change nothing. A path may lead
// into messages of the contract (model.name), but not into lists, maps and free JSON objects,
// which are changed as a whole. Errors: Invalid invalid-request on update_mask.paths[i].
func checkMask(message protoreflect.Message) error {
	field := message.Descriptor().Fields().ByName(maskField)
	if field == nil || !message.Has(field) {
		return nil
	}
	mask, ok := message.Get(field).Message().Interface().(*fieldmaskpb.FieldMask)
	if !ok {
		return nil
	}
	unknown := func(path string) bool { return path == maskField || !hasPath(message.Descriptor(), path) }
	i := slices.IndexFunc(mask.GetPaths(), unknown)
	if i < 0 {
		return nil
	}
	return fault.InvalidField(maskField+".paths["+strconv.Itoa(i)+"]", "unknown",
		"%q is not a field of the request; a path names a field, such as model or model.name.", mask.GetPaths()[i])
}

// hasPath reports whether a path names a field of the message or of one inside it.
func hasPath(message protoreflect.MessageDescriptor, path string) bool {
	name, rest, nested := strings.Cut(path, ".")
	field := message.Fields().ByName(protoreflect.Name(name))
	if field == nil || !nested {
		return field != nil
	}
	inner := field.Message()
	return inner != nil && !field.IsList() && !field.IsMap() && inner.FullName().Parent() != "google.protobuf" && hasPath(inner, rest)
}
