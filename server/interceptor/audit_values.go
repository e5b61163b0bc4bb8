package interceptor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/audit"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/redact"
)

const (
	// maxRecordedText is the length in bytes of the longest text that the audit log holds; the hash
	// of a longer one is in its place.
	maxRecordedText = 1000
	// maxRecordedField is maxRecordedText for a whole field of a resource, as JSON.
	maxRecordedField = 16 << 10
	// userIDField is the field that holds the id of an end user in every message.
	userIDField = "user_id"
	// exactInteger is the largest integer below which a double holds every integer.
	exactInteger = 1 << 53
)

// hidden stands for a value that must not be in the audit log. The digest tells whether it changed.
type hidden struct {
	label  string
	digest [sha256.Size]byte
}

// auditRecorder turns messages into what the audit log holds of them.
type auditRecorder struct {
	hashUser func(userID string) (string, error)
}

// fields returns the fields of a message that have a value.
func (r auditRecorder) fields(message protoreflect.Message) (fields map[string]any, err error) {
	fields = map[string]any{}
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if isExtra(field) {
			return true
		}
		var recorded any
		if recorded, err = r.field(field, value); err != nil {
			return false
		}
		fields[string(field.Name())] = recorded
		return true
	})
	return fields, err
}

// isExtra reports whether a field repeats another one.
func isExtra(field protoreflect.FieldDescriptor) bool {
	exact, _ := proto.GetExtension(field.Options(), parlancev1.E_ExactJsonOf).(string)
	rpcOnly, _ := proto.GetExtension(field.Options(), parlancev1.E_RpcOnly).(bool)
	return exact != "" || rpcOnly
}

// privacyOf returns who may see the value of a field.
func privacyOf(field protoreflect.FieldDescriptor) parlancev1.Privacy {
	privacy, _ := proto.GetExtension(field.Options(), parlancev1.E_Privacy).(parlancev1.Privacy)
	return privacy
}

// isRecorded reports whether the audit log has a field with that privacy.
func isRecorded(privacy parlancev1.Privacy) bool {
	switch privacy {
	case parlancev1.Privacy_PRIVACY_SECRET, parlancev1.Privacy_PRIVACY_CONTENT, parlancev1.Privacy_PRIVACY_PERSONAL:
		return false
	case parlancev1.Privacy_PRIVACY_UNSPECIFIED, parlancev1.Privacy_PRIVACY_LABEL, parlancev1.Privacy_PRIVACY_URL,
		parlancev1.Privacy_PRIVACY_HASH:
	}
	return true
}

func (r auditRecorder) field(field protoreflect.FieldDescriptor, value protoreflect.Value) (any, error) {
	privacy := privacyOf(field)
	switch {
	case privacy == parlancev1.Privacy_PRIVACY_SECRET:
		return hideSecret(field, value), nil
	case !isRecorded(privacy):
		return hide("[content]", field, value), nil
	case field.IsMap():
		return r.mapValue(field, value.Map())
	case field.IsList():
		list := make([]any, value.List().Len())
		for i := range list {
			var err error
			if list[i], err = r.single(field, value.List().Get(i)); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return r.single(field, value)
}

func (r auditRecorder) mapValue(field protoreflect.FieldDescriptor, values protoreflect.Map) (any, error) {
	recorded := map[string]any{}
	var err error
	values.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		recorded[key.String()], err = r.single(field.MapValue(), value)
		return err == nil
	})
	return recorded, err
}

// single records a value that is no list and no map.
func (r auditRecorder) single(field protoreflect.FieldDescriptor, value protoreflect.Value) (any, error) {
	switch field.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return r.message(value.Message())
	case protoreflect.BoolKind:
		return value.Bool(), nil
	case protoreflect.StringKind:
		if field.Name() == userIDField {
			return r.hashUser(value.String())
		}
		return recordedText(value.String()), nil
	case protoreflect.BytesKind:
		return hashOf(value.Bytes()), nil
	case protoreflect.EnumKind:
		return string(field.Enum().Values().ByNumber(value.Enum()).Name()), nil
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return recordedNumber(value.Float()), nil
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return value.Int(), nil
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return int64(value.Uint()), nil
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return value.String(), nil
	}
	return nil, fmt.Errorf("the audit log has no form for the field %s", field.FullName())
}

func (r auditRecorder) message(message protoreflect.Message) (any, error) {
	switch known := message.Interface().(type) {
	case *timestamppb.Timestamp:
		return known.AsTime().Format(time.RFC3339Nano), nil
	case *structpb.Struct:
		return recordedJSON(known.AsMap()), nil
	case *structpb.Value:
		return recordedJSON(known.AsInterface()), nil
	}
	return r.fields(message)
}

// recordedJSON makes a decoded JSON value fit for the audit log.
func recordedJSON(value any) any {
	switch v := value.(type) {
	case float64:
		return recordedNumber(v)
	case string:
		return recordedText(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = recordedJSON(v[i])
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name := range v {
			object[name] = recordedJSON(v[name])
		}
		return object
	}
	return value
}

// recordedNumber is an integer as it is, and another number as text: programs write fractions in
// different ways, so that the hash of one could not be verified.
func recordedNumber(number float64) any {
	if number == math.Trunc(number) && math.Abs(number) < exactInteger {
		return int64(number)
	}
	return strconv.FormatFloat(number, 'g', -1, 64)
}

// recordedText is a text without the secrets of URLs in it, or the hash of one that is too long.
func recordedText(text string) string {
	if len(text) > maxRecordedText {
		return hashOf([]byte(text))
	}
	return redact.URLs(redact.Queries(text))
}

// hashOf stands for a value that is too long.
func hashOf(value []byte) string {
	sum := sha256.Sum256(value)
	return fmt.Sprintf("[sha256:%s, %d bytes]", hex.EncodeToString(sum[:]), len(value))
}

// hide hides a value as a whole.
func hide(label string, field protoreflect.FieldDescriptor, value protoreflect.Value) hidden {
	holder := field.ContainingMessage()
	var digest [sha256.Size]byte
	if field.IsMap() || field.IsList() || field.Message() != nil {
		digest = digestOf(value.Interface())
	} else {
		digest = sha256.Sum256([]byte(string(holder.FullName()) + value.String()))
	}
	return hidden{label: label, digest: digest}
}

// digestOf tells values apart within this process.
func digestOf(value any) [sha256.Size]byte {
	switch v := value.(type) {
	case protoreflect.Message:
		encoded, _ := proto.MarshalOptions{Deterministic: true}.Marshal(v.Interface()) // it was decoded before
		return sha256.Sum256(encoded)
	case protoreflect.List:
		var all []byte
		for i := range v.Len() {
			one := digestOf(v.Get(i).Interface())
			all = append(all, one[:]...)
		}
		return sha256.Sum256(all)
	case protoreflect.Map:
		var all [sha256.Size]byte
		v.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
			name, one := sha256.Sum256([]byte(key.String())), digestOf(value.Interface())
			pair := sha256.Sum256(append(name[:], one[:]...))
			for i := range all { // maps have no order
				all[i] ^= pair[i]
			}
			return true
		})
		return all
	}
	return sha256.Sum256(fmt.Append(nil, value))
}

// hideSecret hides a secret. The names in a map or a Struct are kept: they say which header was
// changed.
func hideSecret(field protoreflect.FieldDescriptor, value protoreflect.Value) any {
	const label = "[secret]"
	names := map[string]any{}
	switch {
	case field.IsMap():
		value.Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
			names[key.String()] = hidden{label, digestOf(value.Interface())}
			return true
		})
		return names
	case field.Message() != nil && !field.IsList():
		object, ok := value.Message().Interface().(*structpb.Struct)
		if !ok {
			break
		}
		for name, value := range object.GetFields() {
			names[name] = hidden{label, digestOf(value.ProtoReflect())}
		}
		return names
	}
	return hide(label, field, value)
}

// changesOf leaves out of two resources the fields that are the same in both. A field that is in
// one of them only is null in the other. nil stands for a resource that is not there.
func changesOf(before, after map[string]any) (was, is map[string]any) {
	if before == nil || after == nil {
		return before, after
	}
	was, is = map[string]any{}, map[string]any{}
	for name := range after {
		if _, known := before[name]; !known {
			was[name], is[name] = nil, after[name]
		}
	}
	for name, value := range before {
		other := after[name]
		if reflect.DeepEqual(value, other) {
			continue
		}
		inner, isObject := value.(map[string]any)
		otherInner, bothObjects := other.(map[string]any)
		if isObject && bothObjects {
			was[name], is[name] = changesOf(inner, otherInner)
			continue
		}
		was[name], is[name] = value, other
	}
	return was, is
}

// shown replaces what is hidden by its label.
func shown(value any) any {
	switch v := value.(type) {
	case hidden:
		return v.label
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = shown(v[i])
		}
		return list
	case map[string]any:
		if v == nil {
			return nil
		}
		return shownFields(v)
	}
	return value
}

func shownFields(fields map[string]any) map[string]any {
	if fields == nil {
		return nil
	}
	out := make(map[string]any, len(fields))
	for name, value := range fields {
		out[name] = shown(value)
	}
	return out
}

// settings makes the JSON of one side of a change. Fields that are too long are replaced by their
// hash.
func settings(fields map[string]any) ([]byte, error) {
	fields = shownFields(fields)
	for name, value := range fields {
		text, err := audit.Settings(map[string]any{name: value})
		if err != nil {
			return nil, err
		}
		if len(text) > maxRecordedField {
			fields[name] = hashOf(text)
		}
	}
	return audit.Settings(fields)
}
