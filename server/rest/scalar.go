package rest

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// sentence is the error of a value: text made for the caller, not for a log.
type sentence string

// Error is the sentence itself.
func (s sentence) Error() string { return string(s) }

const (
	errObject    = sentence("Must be a JSON object.")
	errList      = sentence("Must be a list.")
	errString    = sentence("Must be a string.")
	errTextual   = sentence("Must be a string, a number, true or false.")
	errText      = sentence("Must be UTF-8 text without NUL characters.")
	errBool      = sentence("Must be true or false.")
	errInteger   = sentence("Must be an integer in the range of the field.")
	errNumber    = sentence("Must be a number in the range of the field.")
	errBase64    = sentence("Must be base64.")
	errEnum      = sentence("Is not one of the values of this field.")
	errTimestamp = sentence("Must be an RFC 3339 time: 2026-01-31T12:00:00Z.")
	errDuration  = sentence("Must be a duration in seconds: 1.5s.")
	errMask      = sentence("Must be a list of field names.")
)

// scalar reads the text of a path variable or query parameter as a value of the field (of one
// element, when it is a list). Its errors are sentences.
func scalar(message protoreflect.Message, field protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	var none protoreflect.Value
	if err := checkString(text); err != nil {
		return none, err
	}
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text), nil
	case protoreflect.BoolKind:
		if text != "true" && text != "false" {
			return none, errBool
		}
		return protoreflect.ValueOfBool(text == "true"), nil
	case protoreflect.EnumKind:
		value := field.Enum().Values().ByName(protoreflect.Name(text))
		if value == nil {
			return none, errEnum
		}
		return protoreflect.ValueOfEnum(value.Number()), nil
	case protoreflect.BytesKind:
		raw, err := decodeBase64(text)
		return protoreflect.ValueOfBytes(raw), err
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return floating(field.Kind(), text)
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return textValue(message, field, text)
	default:
		return integer(field.Kind(), text)
	}
}

// textValue reads a message whose JSON is a string, such as a timestamp.
func textValue(message protoreflect.Message, field protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	element := message.NewField(field)
	if field.IsList() {
		element = element.List().NewElement()
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return protoreflect.Value{}, errText
	}
	if protojson.Unmarshal(quoted, element.Message().Interface()) != nil {
		return protoreflect.Value{}, textError(field.Message())
	}
	return element, nil
}

func decodeBase64(text string) ([]byte, error) {
	standard := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	raw, err := base64.RawStdEncoding.DecodeString(standard)
	if err != nil {
		return nil, errBase64
	}
	return raw, nil
}

func floating(kind protoreflect.Kind, text string) (protoreflect.Value, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return protoreflect.Value{}, errNumber
	}
	if kind == protoreflect.DoubleKind {
		return protoreflect.ValueOfFloat64(value), nil
	}
	if math.Abs(value) > math.MaxFloat32 {
		return protoreflect.Value{}, errNumber
	}
	return protoreflect.ValueOfFloat32(float32(value)), nil
}

func integer(kind protoreflect.Kind, text string) (protoreflect.Value, error) {
	switch kind {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		if value, err := strconv.ParseInt(text, 10, 32); err == nil {
			return protoreflect.ValueOfInt32(int32(value)), nil
		}
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		if value, err := strconv.ParseInt(text, 10, 64); err == nil {
			return protoreflect.ValueOfInt64(value), nil
		}
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		if value, err := strconv.ParseUint(text, 10, 32); err == nil {
			return protoreflect.ValueOfUint32(uint32(value)), nil
		}
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		if value, err := strconv.ParseUint(text, 10, 64); err == nil {
			return protoreflect.ValueOfUint64(value), nil
		}
	default:
	}
	return protoreflect.Value{}, errInteger
}
