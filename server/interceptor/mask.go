package interceptor

import (
	"slices"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/fault"
)

// maskField is the field of an update request that holds the fields sent.
const maskField = "update_mask"

// checkMask refuses a path of update_mask that is no field of the request: a handler looks for the
// fields it knows, so a misspelt or nested path would answer 200 and change nothing.
// Errors: Invalid invalid-request on update_mask.paths[i].
func checkMask(message protoreflect.Message) error {
	fields := message.Descriptor().Fields()
	field := fields.ByName(maskField)
	if field == nil || !message.Has(field) {
		return nil
	}
	mask, ok := message.Get(field).Message().Interface().(*fieldmaskpb.FieldMask)
	if !ok {
		return nil
	}
	unknown := func(path string) bool {
		return path == maskField || fields.ByName(protoreflect.Name(path)) == nil
	}
	i := slices.IndexFunc(mask.GetPaths(), unknown)
	if i < 0 {
		return nil
	}
	return fault.InvalidField(maskField+".paths["+strconv.Itoa(i)+"]", "unknown",
		"%q is not a field of the request; a path names a whole field, such as model, not model.name.", mask.GetPaths()[i])
}
