package rest

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// step is one part of the path to a value: a field, the key of a map or the place in a list.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	fieldName stepKind = iota
	mapKey
	listIndex
)

// maxStepBytes is what an answer repeats of a name that the caller made up.
const maxStepBytes = 100

// render writes a path the way protovalidate does: model.fallbacks[2].name, headers["X-A"].
func render(path []step) string {
	var out strings.Builder
	for _, s := range path {
		name := s.name
		if len(name) > maxStepBytes {
			name = strings.ToValidUTF8(name[:maxStepBytes], "") + "…"
		}
		switch s.kind {
		case mapKey:
			out.WriteString("[" + strconv.Quote(name) + "]")
		case listIndex:
			out.WriteString("[" + strconv.Itoa(s.index) + "]")
		case fieldName:
			if out.Len() > 0 {
				out.WriteByte('.')
			}
			out.WriteString(name)
		}
	}
	return out.String()
}

// scalarError is why a token is no value of the field, "" when it is one.
func scalarError(field protoreflect.FieldDescriptor, token json.Token) sentence {
	text, isText := token.(string)
	number, isNumber := token.(json.Number)
	switch kind := field.Kind(); kind {
	case protoreflect.StringKind:
		if !isText {
			return errString
		}
		if checkString(text) != nil {
			return errText
		}
		return ""
	case protoreflect.BoolKind:
		if _, ok := token.(bool); !ok {
			return errBool
		}
		return ""
	case protoreflect.EnumKind:
		if !isText || field.Enum().Values().ByName(protoreflect.Name(text)) == nil {
			return errEnum
		}
		return ""
	case protoreflect.BytesKind:
		if !isText {
			return errBase64
		}
		if _, err := decodeBase64(text); err != nil {
			return errBase64
		}
		return ""
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		if !isNumber {
			return errNumber
		}
		if _, err := floating(kind, number.String()); err != nil {
			return errNumber
		}
		return ""
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		// JavaScript cannot hold these, so the JSON form of protobuf writes them as strings.
		if isText {
			number, isNumber = json.Number(text), true
		}
		fallthrough
	default:
		if !isNumber {
			return errInteger
		}
		return integerError(kind, number.String())
	}
}

// integerError takes 5, and 5.0 and 5e2 too, as protojson does.
func integerError(kind protoreflect.Kind, text string) sentence {
	if strings.ContainsAny(text, ".eE") {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || value != math.Trunc(value) {
			return errInteger
		}
		text = strconv.FormatFloat(value, 'f', -1, 64)
	}
	if _, err := integer(kind, text); err != nil {
		return errInteger
	}
	return ""
}

func isValue(message protoreflect.MessageDescriptor) bool {
	return message != nil && message.FullName() == "google.protobuf.Value"
}

// isContract reports whether a message is one of the contract's own, whose fields are known.
func isContract(message protoreflect.MessageDescriptor) bool {
	return message != nil && message.FullName().Parent() != "google.protobuf"
}

func isWrapper(message protoreflect.MessageDescriptor) bool {
	return message.ParentFile().Path() == "google/protobuf/wrappers.proto"
}

// textual reports whether the JSON of a message is a string.
func textual(message protoreflect.MessageDescriptor) bool {
	switch message.FullName() {
	case "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask":
		return true
	}
	return false
}

func textError(message protoreflect.MessageDescriptor) sentence {
	switch message.FullName() {
	case "google.protobuf.Timestamp":
		return errTimestamp
	case "google.protobuf.Duration":
		return errDuration
	}
	return errMask
}

// checkString refuses what Postgres cannot keep, too: its text has no NUL.
func checkString(text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return errText
	}
	return nil
}

// parses reports whether text is the JSON form of a textual message.
func parses(message protoreflect.MessageDescriptor, text string) bool {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(message.FullName())
	if err != nil {
		return false
	}
	quoted, err := json.Marshal(text)
	return err == nil && protojson.Unmarshal(quoted, kind.New().Interface()) == nil
}

// fieldNamed finds a field by its snake_case or lowerCamelCase name.
func fieldNamed(message protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if field := message.Fields().ByName(protoreflect.Name(name)); field != nil {
		return field
	}
	return message.Fields().ByJSONName(name)
}

// textField returns a string field of a message, "" if the message has none of that name.
func textField(message protoreflect.Message, name string) string {
	field := message.Descriptor().Fields().ByName(protoreflect.Name(name))
	if field == nil || field.IsList() || field.Kind() != protoreflect.StringKind {
		return ""
	}
	return message.Get(field).String()
}
