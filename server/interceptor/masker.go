package interceptor

import (
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/platform/pii"
	"parlance.dev/parlance/platform/redact"
)

// maskedText is in the place of a text that says who somebody is.
const maskedText = "[personal]"

// languageField is the field that holds the language of what a message is about.
const languageField = "language"

// wideFindings finds every kind of personal data, and rather too much: most messages do not say in
// which language they are.
var wideFindings = pii.NewWide(pii.Kinds, "")

// masker masks personal data in messages. What becomes of a field is said by its option privacy,
// which counts for all that is in it; a field without one is shown. Wherever it stands, user_id
// becomes its keyed hash, and JSON is searched.
type masker struct {
	hashUser func(userID string) (string, error)
	findings pii.Redactor
}

func newMasker(hashUser func(userID string) (string, error)) masker {
	return masker{hashUser: hashUser, findings: wideFindings}
}

// masked returns a masked copy of a message.
func (m masker) masked(message proto.Message) (proto.Message, error) {
	masked := proto.Clone(message)
	return masked, m.message(masked.ProtoReflect(), parlancev1.Privacy_PRIVACY_UNSPECIFIED)
}

// shownAs returns the privacy of a field inside something with another one. A field with the exact
// JSON of another field is as that one.
func shownAs(field protoreflect.FieldDescriptor, outer parlancev1.Privacy) parlancev1.Privacy {
	own := privacyOf(field)
	if exact, _ := proto.GetExtension(field.Options(), parlancev1.E_ExactJsonOf).(string); exact != "" {
		if repeated := field.ContainingMessage().Fields().ByName(protoreflect.Name(exact)); repeated != nil {
			own = privacyOf(repeated)
		}
	}
	if own != parlancev1.Privacy_PRIVACY_UNSPECIFIED {
		return own
	}
	return outer
}

// holdsJSON reports whether a field holds a JSON value, as such or as text.
func holdsJSON(field protoreflect.FieldDescriptor) bool {
	exact, _ := proto.GetExtension(field.Options(), parlancev1.E_ExactJsonOf).(string)
	return exact != "" || field.Message() != nil && !field.IsMap() && isJSON(field.Message())
}

func isJSON(message protoreflect.MessageDescriptor) bool {
	switch message.FullName() {
	case "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue":
		return true
	}
	return false
}

// message masks the fields of a message that have a value.
func (m masker) message(message protoreflect.Message, outer parlancev1.Privacy) (err error) {
	if language := textField(message.Interface(), languageField); language != "" {
		m.findings = pii.NewWide(pii.Kinds, language)
	}
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		err = m.field(message, field, value, shownAs(field, outer))
		return err == nil
	})
	return err
}

func (m masker) field(
	message protoreflect.Message, field protoreflect.FieldDescriptor, value protoreflect.Value, privacy parlancev1.Privacy,
) (err error) {
	isPersonal := privacy == parlancev1.Privacy_PRIVACY_PERSONAL
	isBytes := field.Kind() == protoreflect.BytesKind && privacy != parlancev1.Privacy_PRIVACY_UNSPECIFIED
	switch {
	case privacy == parlancev1.Privacy_PRIVACY_SECRET, privacy == parlancev1.Privacy_PRIVACY_HASH, isPersonal && holdsJSON(field), isBytes:
		message.Clear(field)
	case field.IsMap():
		entries := value.Map()
		entries.Range(func(key protoreflect.MapKey, one protoreflect.Value) bool {
			if one, err = m.single(field.MapValue(), one, privacy); err == nil {
				entries.Set(key, one)
			}
			return err == nil
		})
	case field.IsList():
		list := value.List()
		for i := 0; i < list.Len() && err == nil; i++ {
			var one protoreflect.Value
			if one, err = m.single(field, list.Get(i), privacy); err == nil {
				list.Set(i, one)
			}
		}
	default:
		if value, err = m.single(field, value, privacy); err == nil {
			message.Set(field, value)
		}
	}
	return err
}

// single masks a value that is no list and no map.
func (m masker) single(
	field protoreflect.FieldDescriptor, value protoreflect.Value, privacy parlancev1.Privacy,
) (protoreflect.Value, error) {
	switch {
	case field.Message() != nil && isJSON(field.Message()):
		return value, m.jsonMessage(value.Message().Interface())
	case field.Message() != nil:
		return value, m.message(value.Message(), privacy)
	case field.Kind() != protoreflect.StringKind || value.String() == "":
		return value, nil
	}
	masked, err := m.text(field, value.String(), privacy)
	return protoreflect.ValueOfString(masked), err
}

func (m masker) text(field protoreflect.FieldDescriptor, text string, privacy parlancev1.Privacy) (string, error) {
	switch {
	case field.Name() == userIDField:
		return m.hashUser(text)
	case privacy == parlancev1.Privacy_PRIVACY_PERSONAL:
		return maskedText, nil
	case holdsJSON(field):
		return m.jsonText(text)
	case privacy == parlancev1.Privacy_PRIVACY_CONTENT:
		return m.contentText(text)
	case privacy == parlancev1.Privacy_PRIVACY_LABEL:
		return m.findings.Text(redact.Origins(text)), nil
	case privacy == parlancev1.Privacy_PRIVACY_URL:
		return redact.Origin(text), nil
	}
	return text, nil
}

// contentText masks what was said, which may be JSON.
func (m masker) contentText(text string) (string, error) {
	if raw := jsonvalue.Raw(text); raw != nil {
		switch decoded := jsonvalue.Decode(raw); decoded.(type) {
		case map[string]any, []any:
			if !jsonvalue.DeeperThan(decoded, jsonvalue.MaxDepth) {
				return m.jsonText(text)
			}
		}
	}
	return m.findings.Text(text), nil
}

// jsonText masks a JSON text.
func (m masker) jsonText(text string) (string, error) {
	clean, err := m.value("", jsonvalue.Decode(jsonvalue.Raw(text)))
	if err != nil {
		return "", err
	}
	return string(m.findings.JSON(json.RawMessage(jsonvalue.Compact(clean)))), nil
}

// jsonMessage masks a Struct, Value or ListValue.
func (m masker) jsonMessage(message proto.Message) error {
	if value, is := message.(*structpb.Value); is {
		if _, isText := value.GetKind().(*structpb.Value_StringValue); isText {
			value.Kind = &structpb.Value_StringValue{StringValue: m.findings.Text(value.GetStringValue())}
			return nil
		}
	}
	text, err := protojson.Marshal(message)
	if err != nil {
		return err
	}
	masked, err := m.jsonText(string(text))
	if err != nil {
		return err
	}
	return protojson.Unmarshal([]byte(masked), message)
}

// value masks a decoded JSON value by the names of members. name is that of the member that it is.
func (m masker) value(name string, value any) (_ any, err error) {
	switch v := value.(type) {
	case string:
		switch {
		case v == "":
		case name == userIDField:
			return m.hashUser(v)
		case isPersonalName(name):
			return maskedText, nil
		}
	case json.Number:
		if isPersonalName(name) {
			return maskedText, nil
		}
	case []any:
		for i := range v {
			if v[i], err = m.value(name, v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for member := range v {
			if v[member], err = m.value(member, v[member]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
