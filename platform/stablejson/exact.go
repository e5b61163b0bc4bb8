package stablejson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// longNumber matches what may be a number that a double cannot hold; it has at least 16 digits.
var longNumber = regexp.MustCompile(`\d{16}`)

// HasLongNumber reports whether JSON may have a number that loses digits in a Struct.
func HasLongNumber(text []byte) bool { return longNumber.Match(text) }

// ExactField returns the string field that holds the exact JSON of a Struct or Value field of its
// message (the option exact_json_of), nil when there is none.
func ExactField(field protoreflect.FieldDescriptor) protoreflect.FieldDescriptor {
	return markedOf(field.ContainingMessage()).exact[field.Name()]
}

// HasExact reports whether a message, or one that it contains, has exact fields.
func HasExact(message protoreflect.MessageDescriptor) bool { return markedOf(message).within }

// IsExact reports whether a field holds the exact JSON of another one.
func IsExact(field protoreflect.FieldDescriptor) bool { return exactOf(field) != "" }

// exactOf returns the name of the field whose exact JSON a field holds; empty for other fields.
func exactOf(field protoreflect.FieldDescriptor) protoreflect.Name {
	of, _ := optionOf(field, "parlance.v1.exact_json_of").(string)
	return protoreflect.Name(of)
}

// isRPCOnly reports whether only callers of RPC get a field.
func isRPCOnly(field protoreflect.FieldDescriptor) bool {
	only, _ := optionOf(field, "parlance.v1.rpc_only").(bool)
	return only
}

// optionOf returns the value of an option of a field; nil when the program has no messages with the
// option.
func optionOf(field protoreflect.FieldDescriptor, name protoreflect.FullName) any {
	option, err := protoregistry.GlobalTypes.FindExtensionByName(name)
	if err != nil {
		return nil
	}
	return proto.GetExtension(field.Options(), option)
}

// marked is what the options of a message's fields say.
type marked struct {
	// exact are the fields that hold the exact JSON of the one of the name.
	exact map[protoreflect.Name]protoreflect.FieldDescriptor
	// within says that the message or one that it contains has such a field; rpcOnly that one has a
	// field for callers of RPC only.
	within, rpcOnly bool
}

var known sync.Map // protoreflect.FullName to *marked

// markedOf reads a message's options once.
func markedOf(message protoreflect.MessageDescriptor) *marked {
	cached, _ := known.Load(message.FullName())
	if found, ok := cached.(*marked); ok {
		return found
	}
	made := &marked{exact: map[protoreflect.Name]protoreflect.FieldDescriptor{}}
	fields := message.Fields()
	for i := range fields.Len() {
		if of := exactOf(fields.Get(i)); of != "" {
			made.exact[of] = fields.Get(i)
		}
	}
	made.within = contains(message, IsExact, map[protoreflect.FullName]bool{})
	made.rpcOnly = contains(message, isRPCOnly, map[protoreflect.FullName]bool{})
	known.Store(message.FullName(), made)
	return made
}

// contains reports whether a message, or one that it contains, has a field for which is returns
// true.
func contains(
	message protoreflect.MessageDescriptor, is func(protoreflect.FieldDescriptor) bool, seen map[protoreflect.FullName]bool,
) bool {
	seen[message.FullName()] = true
	fields := message.Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if is(field) {
			return true
		}
		if field.IsMap() {
			field = field.MapValue()
		}
		if nested := field.Message(); nested != nil && !seen[nested.FullName()] && contains(nested, is, seen) {
			return true
		}
	}
	return false
}

// withExact returns the JSON of a message with the Struct fields that have an exact field written
// from it, with every digit.
func withExact(message protoreflect.Message, body []byte) ([]byte, error) {
	if !markedOf(message.Descriptor()).within || !HasLongNumber(body) {
		return body, nil
	}
	var out bytes.Buffer
	if err := writeExact(&out, message, body); err != nil {
		return nil, fmt.Errorf("writing the exact numbers of %s: %w", message.Descriptor().FullName(), err)
	}
	return out.Bytes(), nil
}

// writeExact copies the JSON object of a message member by member.
func writeExact(out *bytes.Buffer, message protoreflect.Message, object []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil { // {
		return err
	}
	out.WriteByte('{')
	for first := true; decoder.More(); first = false {
		var value json.RawMessage
		name, err := decoder.Token()
		if err == nil {
			err = decoder.Decode(&value)
		}
		if err != nil {
			return err
		}
		if !first {
			out.WriteByte(',')
		}
		key, _ := name.(string)
		out.WriteString(strconv.Quote(key)) // a field's name needs no escapes
		out.WriteByte(':')
		if err := writeField(out, message, message.Descriptor().Fields().ByName(protoreflect.Name(key)), value); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// writeField writes the value of a field: the exact text where there is one, else the value with
// the exact texts of the messages in it.
func writeField(out *bytes.Buffer, message protoreflect.Message, field protoreflect.FieldDescriptor, value []byte) error {
	if exact := ExactField(field); exact != nil {
		if text := []byte(message.Get(exact).String()); json.Valid(text) {
			return json.Compact(out, text)
		}
	}
	if nested := field.Message(); nested == nil || field.IsMap() || !markedOf(nested).within || !message.Has(field) {
		out.Write(value)
		return nil
	}
	if !field.IsList() {
		return writeExact(out, message.Get(field).Message(), value)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(value, &items); err != nil {
		return err
	}
	out.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeExact(out, message.Get(field).List().Get(i).Message(), item); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}
