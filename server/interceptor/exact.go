package interceptor

import (
	"encoding/json"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/platform/stablejson"
)

// settleExact checks the exact fields of a request, which hold the JSON object of a Struct beside
// them as text (stablejson.ExactField), and writes them without spaces.
// Errors: Invalid invalid-request with the field.
func settleExact(message protoreflect.Message, prefix string) (err error) {
	if !stablejson.HasExact(message.Descriptor()) {
		return nil // as most messages
	}
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		path := prefix + string(field.Name())
		switch {
		case stablejson.IsExact(field):
			err = settleText(message, field, value.String(), path)
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := 0; i < value.List().Len() && err == nil; i++ {
				err = settleExact(value.List().Get(i).Message(), path+"["+strconv.Itoa(i)+"].")
			}
		default:
			err = settleExact(value.Message(), path+".")
		}
		return err == nil
	})
	return err
}

func settleText(message protoreflect.Message, field protoreflect.FieldDescriptor, text, path string) error {
	object, ok := jsonvalue.Decode(jsonvalue.Raw(text)).(map[string]any)
	if !ok {
		return fault.InvalidField(path, "wrong_type", "The text must be one JSON object.")
	}
	if sentence := jsonvalue.Unkeepable(json.RawMessage(text)); sentence != "" {
		return fault.InvalidField(path, "wrong_type", "%s", sentence)
	}
	message.Set(field, protoreflect.ValueOfString(jsonvalue.Compact(object)))
	return nil
}
