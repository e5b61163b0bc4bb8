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

// othersIDs are ids that callers and outside parties choose: they name nothing of a tenant here.
var othersIDs = []string{"user_id", "account_id", "last_event_id", "stripe_customer_id"}

// idFields returns the fields of a request that name something of a tenant: those called …_id or
// …_ids, also in the metadata of an upload.
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

// fieldsOf returns the fields of a request; for an upload those of its first message.
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

// message makes a request that should succeed for the world's owner, with changes. Fields without
// a value in the world get the least that their rules ask for; an id without one fails the test.
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

// leastValue returns the least that the rules of a field ask for; nil if they ask for nothing.
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

// idOf returns the world's value for an id field of a method.
func (w *world) idOf(method protoreflect.MethodDescriptor, name string) any {
	if value := w.values[string(method.Name())+"."+name]; value != nil {
		return value
	}
	return w.values[name]
}

// ids returns the values of all id fields of a method.
func (w *world) ids(method protoreflect.MethodDescriptor) map[string]any {
	ids := map[string]any{}
	for _, name := range idFields(method) {
		ids[name] = w.idOf(method, name)
	}
	return ids
}

// secrets returns what nobody else may see of the owner's: its mark and its ids.
func (w *world) secrets() []string {
	secrets := []string{w.mark}
	for name, value := range w.values {
		if id, ok := value.(string); ok && strings.HasSuffix(name, "_id") && len(id) > 10 {
			secrets = append(secrets, id)
		}
	}
	return secrets
}
