package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// schemas are the components made so far, by message name.
type schemas struct {
	made map[string]*schema
	// asked holds the messages that requests can contain. The others are only ever written by
	// us, always with every field that has no presence: there those are required.
	asked   map[protoreflect.FullName]bool
	samples *samples
}

func newSchemas(endpoints []endpoint) (*schemas, error) {
	s := &schemas{made: map[string]*schema{}, asked: map[protoreflect.FullName]bool{}}
	var err error
	if s.samples, err = newSamples(); err != nil {
		return nil, err
	}
	for _, e := range endpoints {
		s.ask(e.method.Input)
	}
	return s, nil
}

func (s *schemas) ask(message *protogen.Message) {
	if s.asked[message.Desc.FullName()] {
		return
	}
	s.asked[message.Desc.FullName()] = true
	for _, field := range message.Fields {
		if field.Message != nil {
			s.ask(field.Message)
		}
	}
}

// message is a reference to the component of a message, made when it is met first; without are
// fields that it is to lack.
func (s *schemas) message(message *protogen.Message, without ...string) *schema {
	if known := wellKnown(message.Desc.FullName()); known != nil {
		return known
	}
	name := string(message.Desc.Name())
	if s.made[name] == nil {
		made := &schema{}
		s.made[name] = made // before its fields: messages may hold themselves
		*made = *s.object(message, without)
	}
	return &schema{Ref: "#/components/schemas/" + name}
}

func (s *schemas) object(message *protogen.Message, without []string) *schema {
	out := &schema{Type: "object", Description: prose(message.Comments.Leading)}
	asked := s.asked[message.Desc.FullName()]
	if asked {
		out.AdditionalProperties = false // REST refuses unknown fields
	}
	nullable := slices.ContainsFunc(message.Fields, func(f *protogen.Field) bool { return f.Desc.Name() == maskField })
	for _, field := range message.Fields {
		name := string(field.Desc.Name())
		if slices.Contains(without, name) || name == maskField || rpcOnly(field) {
			continue
		}
		property := s.field(field)
		if nullable && !isRequired(field) || answeredMessage(field) && (asked || saysNull(field)) {
			property = orNull(property)
		}
		if asked && isRequired(field) || !asked && (!field.Desc.HasPresence() || answeredMessage(field)) {
			out.Required = append(out.Required, name)
		}
		out.Properties = append(out.Properties, member[*schema]{name, property})
	}
	return out
}

// answeredMessage reports whether answers hold the field in any case, as null when it has no value;
// see platform/stablejson.
func answeredMessage(field *protogen.Field) bool {
	return field.Message != nil && field.Oneof == nil && !field.Desc.IsList() && !field.Desc.IsMap() && !isInput(field.Parent.Desc)
}

// isInput reports whether a message is what a method takes. Such messages are in the method's file.
func isInput(message protoreflect.MessageDescriptor) bool {
	services := message.ParentFile().Services()
	for i := range services.Len() {
		for j := range services.Get(i).Methods().Len() {
			if services.Get(i).Methods().Get(j).Input().FullName() == message.FullName() {
				return true
			}
		}
	}
	return false
}

var null = regexp.MustCompile(`(?i)\bnull\b`)

// saysNull reports whether the comment of a field says when it is null. Without such a sentence a
// field of an answer always has a value.
func saysNull(field *protogen.Field) bool { return null.MatchString(string(field.Comments.Leading)) }

// rpcOnly reports whether REST leaves the field out.
func rpcOnly(field *protogen.Field) bool {
	only, _ := proto.GetExtension(field.Desc.Options(), parlancev1.E_RpcOnly).(bool)
	return only
}

// orNull lets a field be null: in a PATCH that clears it, in an answer it has no value.
func orNull(of *schema) *schema {
	if name, ok := of.Type.(string); ok && of.Ref == "" && len(of.Enum) == 0 {
		of.Type = []string{name, "null"}
		return of
	}
	if of.Ref == "" && len(of.Enum) == 0 {
		return of // any value
	}
	description := of.Description
	of.Description = ""
	return &schema{Description: description, AnyOf: []*schema{of, {Type: "null"}}}
}

func (s *schemas) field(field *protogen.Field) *schema {
	var out *schema
	switch {
	case field.Desc.IsMap():
		out = &schema{Type: "object", AdditionalProperties: s.single(field.Message.Fields[1])}
	case field.Desc.IsList():
		out = &schema{Type: "array", Items: s.single(field)}
	default:
		out = s.single(field)
	}
	if rules := rulesOf(field); rules != nil {
		limit(out, rules)
		if !strings.HasSuffix(string(field.Parent.Desc.Name()), "Request") {
			allowZero(out, rules)
		}
	}
	if closed, _ := proto.GetExtension(field.Desc.Options(), parlancev1.E_Closed).(*parlancev1.ClosedSet); closed != nil {
		out.Enum = closed.GetValues()
	}
	if comment := prose(field.Comments.Leading); comment != "" {
		out.Description = comment
	}
	out.Deprecated = isDeprecated(field.Desc)
	return out
}

// isDeprecated reports whether a method or a field has the option deprecated.
func isDeprecated(of protoreflect.Descriptor) bool {
	options, ok := of.Options().(interface{ GetDeprecated() bool })
	return ok && options.GetDeprecated()
}

// single is the schema of one value of the field, without its rules.
func (s *schemas) single(field *protogen.Field) *schema {
	switch field.Desc.Kind() {
	case protoreflect.StringKind:
		return &schema{Type: "string"}
	case protoreflect.BoolKind:
		return &schema{Type: "boolean"}
	case protoreflect.BytesKind:
		return &schema{Type: "string", ContentEncoding: "base64"}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return &schema{Type: "number", Format: field.Desc.Kind().String()}
	case protoreflect.EnumKind:
		out := &schema{Type: "string"}
		for _, value := range field.Enum.Values {
			out.Enum = append(out.Enum, string(value.Desc.Name()))
		}
		return out
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return s.message(field.Message)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return &schema{Type: "string", Format: "int64"} // JavaScript cannot hold them as numbers
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return &schema{Type: "integer", Minimum: number("0")}
	default:
		return &schema{Type: "integer", Format: "int32"}
	}
}

// wellKnown is the JSON form of Google's messages that have one of their own.
func wellKnown(name protoreflect.FullName) *schema {
	switch name {
	case "google.protobuf.Timestamp":
		return &schema{Type: "string", Format: "date-time"}
	case "google.protobuf.Duration":
		return &schema{Type: "string", Pattern: `^-?[0-9]+(\.[0-9]+)?s$`}
	case "google.protobuf.Struct":
		// Said although it is the default: generators of types take its absence for an empty object.
		return &schema{Type: "object", AdditionalProperties: true}
	case "google.protobuf.Empty":
		return &schema{Type: "object", AdditionalProperties: false}
	case "google.protobuf.ListValue":
		return &schema{Type: "array", Items: &schema{}}
	case "google.protobuf.Value":
		return &schema{}
	}
	return nil
}

func rulesOf(field *protogen.Field) *validate.FieldRules {
	rules, _ := proto.GetExtension(field.Desc.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

// kindRules are the rules for the field's type: StringRules, Int32Rules …; nil without any.
func kindRules(rules *validate.FieldRules) protoreflect.Message {
	if rules == nil {
		return nil
	}
	message := rules.ProtoReflect()
	set := message.WhichOneof(message.Descriptor().Oneofs().ByName("type"))
	if set == nil {
		return nil
	}
	return message.Get(set).Message()
}

// takesEmpty reports whether "" is one of the values that the rules list.
func takesEmpty(rules *validate.FieldRules) bool {
	return slices.Contains(rules.GetString().GetIn(), "")
}

// allowZero allows the value that answers hold when nothing was chosen, where a request may leave
// it out.
func allowZero(to *schema, rules *validate.FieldRules) {
	if len(to.Enum) > 0 && takesEmpty(rules) {
		to.Enum = append([]string{""}, to.Enum...)
	}
	if rules.GetIgnore() != validate.Ignore_IGNORE_IF_ZERO_VALUE {
		return
	}
	if to.Minimum != nil && !strings.HasPrefix(to.Minimum.String(), "-") {
		to.Minimum = number("0")
	}
	to.MinLength, to.MinItems = nil, nil
}

// limit writes the rules that JSON Schema can say into the schema.
func limit(to *schema, rules *validate.FieldRules) {
	of := kindRules(rules)
	if of == nil {
		return
	}
	targets := map[string]**json.Number{
		"gte": &to.Minimum, "gt": &to.ExclusiveMinimum, "lte": &to.Maximum, "lt": &to.ExclusiveMaximum,
		"min_len": &to.MinLength, "max_len": &to.MaxLength,
		"min_items": &to.MinItems, "max_items": &to.MaxItems, "max_pairs": &to.MaxProperties,
	}
	of.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		name := string(field.Name())
		if target, ok := targets[name]; ok {
			*target = number(fmt.Sprint(value.Interface()))
		}
		switch {
		case name == "pattern":
			to.Pattern = value.String()
		case name == "in" && field.Kind() == protoreflect.StringKind:
			for i := range value.List().Len() {
				if allowed := value.List().Get(i).String(); allowed != "" { // "" is absence, see takesEmpty
					to.Enum = append(to.Enum, allowed)
				}
			}
		case name == "items" && to.Items != nil && to.Items.Ref == "":
			if items, ok := value.Message().Interface().(*validate.FieldRules); ok {
				limit(to.Items, items)
			}
		}
		return true
	})
}

// isRequired reports whether validation refuses a request without the field: by a plain
// `required`, or because the zero value breaks a rule that also holds when it is absent.
func isRequired(field *protogen.Field) bool {
	rules := rulesOf(field)
	if rules.GetRequired() {
		return true
	}
	of := kindRules(rules)
	if of == nil || field.Desc.HasPresence() || rules.GetIgnore() == validate.Ignore_IGNORE_IF_ZERO_VALUE {
		return false
	}
	refused := false
	of.Range(func(rule protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch rule.Name() {
		case "min_len", "min_items", "min_pairs":
			refused = refused || value.Uint() > 0
		case "gt":
			refused = refused || fmt.Sprint(value.Interface())[0] != '-'
		case "gte":
			refused = refused || !strings.HasPrefix(fmt.Sprint(value.Interface()), "-") && fmt.Sprint(value.Interface()) != "0"
		case "pattern":
			pattern, err := regexp.Compile(value.String())
			refused = refused || (err == nil && !pattern.MatchString(""))
		case "in":
			refused = refused || (rule.Kind() == protoreflect.StringKind && !hasEmpty(value.List()))
		}
		return true
	})
	return refused
}

func hasEmpty(list protoreflect.List) bool {
	for i := range list.Len() {
		if list.Get(i).String() == "" {
			return true
		}
	}
	return false
}

func number(text string) *json.Number {
	out := json.Number(text)
	return &out
}

var bullet = regexp.MustCompile(`^\s*(-|\d+\.)\s`)

// prose joins the lines of a comment; blank lines and list items stay apart.
func prose(comments protogen.Comments) string {
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(string(comments)), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case out.Len() == 0:
		case line == "":
			out.WriteString("\n\n")
			continue
		case bullet.MatchString(line):
			out.WriteString("\n")
		case !strings.HasSuffix(out.String(), "\n"):
			out.WriteString(" ")
		}
		out.WriteString(line)
	}
	return out.String()
}
