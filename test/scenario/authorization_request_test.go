package scenario

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// othersIDs are names that callers and outside parties give: they are nobody's here.
var othersIDs = []string{"user_id", "account_id", "last_event_id"}

// idFields are the fields of a method's request that name something of a tenant's: by their names
// (…_id, …_ids), in the metadata of an upload too.
func idFields(method protoreflect.MethodDescriptor) []string {
	var names []string
	for field := range fieldsOf(method) {
		if name := string(field.Name()); !slices.Contains(othersIDs, name) && (strings.HasSuffix(name, "_id") ||
			strings.HasSuffix(name, "_ids")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fieldsOf are a request's fields; of an upload those of its first message.
func fieldsOf(method protoreflect.MethodDescriptor) map[protoreflect.FieldDescriptor]bool {
	message := method.Input()
	if metadata := message.Fields().ByName("metadata"); method.IsStreamingClient() && metadata != nil {
		message = metadata.Message()
	}
	fields := map[protoreflect.FieldDescriptor]bool{}
	for i := range message.Fields().Len() {
		fields[message.Fields().Get(i)] = true
	}
	return fields
}

// message is a request that should succeed for the world's owner, with changes. Fields that the
// world has no value for get what their rules ask for; an id it does not know fails the test: seed
// one.
func (w *world) message(t *testing.T, method protoreflect.MethodDescriptor, change map[string]any) *dynamicpb.Message {
	t.Helper()
	fields := map[string]any{}
	for field := range fieldsOf(method) {
		name := string(field.Name())
		value, known := w.values[string(method.Name())+"."+name]
		if !known {
			value, known = w.values[name]
		}
		switch {
		case known:
		case slices.Contains(idFields(method), name):
			t.Fatalf("%s has the field %s, which the world has nothing for: make one in settle", method.FullName(), name)
		default:
			value = leastValue(field)
		}
		if value != nil {
			fields[name] = value
		}
	}
	maps.Copy(fields, change)
	if method.IsStreamingClient() {
		fields["filename"], fields["media_type"] = "a.txt", "text/plain"
		fields = map[string]any{"metadata": fields}
	}
	encoded, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	made := dynamicpb.NewMessage(method.Input())
	if err := protojson.Unmarshal(encoded, made); err != nil {
		t.Fatalf("%s: %v in %s", method.FullName(), err, encoded)
	}
	return made
}

// leastValue is the least that a field's rules ask for; nil: nothing.
func leastValue(field protoreflect.FieldDescriptor) any {
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	switch {
	case rules.GetIgnore() == validate.Ignore_IGNORE_IF_ZERO_VALUE, field.HasOptionalKeyword():
		return nil
	case rules.GetString().GetMinLen() > 0:
		return strings.Repeat("x", int(rules.GetString().GetMinLen()))
	case len(rules.GetString().GetIn()) > 0 && !slices.Contains(rules.GetString().GetIn(), ""):
		return rules.GetString().GetIn()[0]
	case rules.GetInt32().GetGte() > 0:
		return rules.GetInt32().GetGte()
	}
	return nil
}

// idOf is the world's value for an id field of a method.
func (w *world) idOf(method protoreflect.MethodDescriptor, name string) any {
	if value := w.values[string(method.Name())+"."+name]; value != nil {
		return value
	}
	return w.values[name]
}

// ids are all of them.
func (w *world) ids(method protoreflect.MethodDescriptor) map[string]any {
	ids := map[string]any{}
	for _, name := range idFields(method) {
		ids[name] = w.idOf(method, name)
	}
	return ids
}

// secrets are what nobody else may see of the owner's: its mark, and its ids.
func (w *world) secrets() []string {
	secrets := []string{w.mark}
	for name, value := range w.values {
		if id, ok := value.(string); ok && strings.HasSuffix(name, "_id") && len(id) > 10 {
			secrets = append(secrets, id)
		}
	}
	return secrets
}
