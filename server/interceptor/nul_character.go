package interceptor

import (
	"strconv"
	"strings"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// nulField returns the path of the first string of a message that contains U+0000, which Postgres
// cannot store, or of a name that contains a control character, which would act on the terminals
// and logs that show it. It is empty if there is none. Bytes may contain both.
func nulField(message protoreflect.Message, prefix string) (found string) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		found = nulIn(field, value, prefix+string(field.Name()))
		return found == ""
	})
	return found
}

func nulIn(field protoreflect.FieldDescriptor, value protoreflect.Value, path string) (found string) {
	switch {
	case field.IsMap():
		value.Map().Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
			if found = nulScalar(field.MapKey(), key.Value(), path); found == "" {
				found = nulScalar(field.MapValue(), v, path+"."+key.String())
			}
			return found == ""
		})
	case field.IsList():
		list := value.List()
		for i := 0; i < list.Len() && found == ""; i++ {
			found = nulScalar(field, list.Get(i), path+"["+strconv.Itoa(i)+"]")
		}
	default:
		found = nulScalar(field, value, path)
	}
	return found
}

func nulScalar(field protoreflect.FieldDescriptor, value protoreflect.Value, path string) string {
	switch field.Kind() {
	case protoreflect.StringKind:
		text := value.String()
		if strings.ContainsRune(text, 0) || field.Name() == "name" && strings.ContainsFunc(text, unicode.IsControl) {
			return path
		}
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return nulField(value.Message(), path+".")
	default:
	}
	return ""
}
