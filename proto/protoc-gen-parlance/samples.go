package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

const (
	sampleTime = "2026-01-02T03:04:05Z"
	// sampleID is the part of an id behind its prefix.
	sampleID = "01jgk2m0q5example0000000ab"
	// eventSamples lies in the root of the repository, where proto/generate.sh runs us.
	eventSamples = "events/examples.json"
)

//go:embed samples.json
var samplesJSON []byte

// samples make the examples of the document: those of answers from the descriptors, field by field,
// with the values of samples.json where it has one; those of requests from samples.json, or from
// the fields that are required.
type samples struct {
	// Requests are bodies by the name of their method.
	Requests map[string]json.RawMessage `json:"requests"`
	// Messages are whole messages by name.
	Messages map[string]json.RawMessage `json:"messages"`
	// Fields are values by "Message.field", and by "field" for fields that are no messages.
	Fields map[string]json.RawMessage `json:"fields"`

	// events are the examples of the data of events, by the event's name.
	events map[string]json.RawMessage
	made   map[string]example
}

func newSamples() (*samples, error) {
	s := &samples{made: map[string]example{}}
	if err := json.Unmarshal(samplesJSON, s); err != nil {
		return nil, fmt.Errorf("reading samples.json: %w", err)
	}
	ofEvents, err := os.ReadFile(eventSamples)
	if err != nil {
		return nil, fmt.Errorf("reading the examples of events: %w", err)
	}
	if err := json.Unmarshal(ofEvents, &s.events); err != nil {
		return nil, fmt.Errorf("reading %s: %w", eventSamples, err)
	}
	return s, nil
}

// shared stores an example as a component, and refers to it.
func (s *samples) shared(name string, value any) map[string]example {
	s.made[name] = example{Value: value}
	return map[string]example{"example": {Ref: "#/components/examples/" + name}}
}

// answer is the example of a message that answers hold.
func (s *samples) answer(message *protogen.Message) map[string]example {
	return s.shared(string(message.Desc.Name()), s.nested(message))
}

// request is the example of the body of an endpoint.
func (s *samples) request(e endpoint) map[string]example {
	name := string(e.method.Input.Desc.Name())
	if body, said := s.Requests[string(e.method.Desc.Name())]; said {
		return s.shared(name, body)
	}
	needed := ordered[any]{}
	for _, field := range e.method.Input.Fields {
		if isRequired(field) && !slices.Contains(e.variables, string(field.Desc.Name())) {
			needed = append(needed, member[any]{string(field.Desc.Name()), s.of(field)})
		}
	}
	return s.shared(name, needed)
}

// stream is the text of one event.
func (s *samples) stream(data *protogen.Message) map[string]example {
	value := s.nested(data)
	s.shared(string(data.Desc.Name()), value)
	var head struct {
		Type    string `json:"type"`
		EventID string `json:"event_id"`
		Cursor  string `json:"cursor"`
	}
	body, err := plainJSON(value)
	if err == nil {
		err = json.Unmarshal(body, &head)
	}
	if err != nil {
		panic("the example of " + string(data.Desc.Name()) + ": " + err.Error())
	}
	lines := "event: " + head.Type + "\n"
	if id := cmp.Or(head.EventID, head.Cursor); id != "" {
		lines += "id: " + id + "\n"
	}
	return map[string]example{"example": {Value: lines + "data: " + string(body) + "\n\n"}}
}

func (s *samples) webhook(e event) map[string]example {
	return map[string]example{"example": {Value: ordered[any]{
		{"type", e.name},
		{"event_id", "evt_" + sampleID},
		{"tenant_id", "ten_" + sampleID},
		{"workspace_id", "ws_" + sampleID},
		{"created_at", sampleTime},
		{"data", s.events[e.name]},
	}}}
}

func (s *samples) form() map[string]example {
	return map[string]example{"example": {Value: ordered[any]{{"file", "(the content of opening-hours.md)"}, {"name", "Opening hours"}}}}
}

func (s *samples) bytes() map[string]example {
	return map[string]example{"example": {Value: "(the content of opening-hours.md)"}}
}

// message has every field of an answer but those that are null for most.
func (s *samples) message(message *protogen.Message) ordered[any] {
	out := ordered[any]{}
	for _, field := range message.Fields {
		hasOneof := field.Oneof != nil && !field.Oneof.Desc.IsSynthetic() && field.Oneof.Fields[0] != field
		if !rpcOnly(field) && !hasOneof {
			out = append(out, member[any]{string(field.Desc.Name()), s.of(field)})
		}
	}
	return out
}

// of is the value of a field.
func (s *samples) of(field *protogen.Field) any {
	name := string(field.Desc.Name())
	if value, said := s.Fields[string(field.Parent.Desc.Name())+"."+name]; said {
		return value
	}
	if value, said := s.Fields[name]; said && field.Message == nil {
		return value
	}
	switch {
	case answeredMessage(field) && saysNull(field):
		return nil
	case field.Desc.IsMap():
		return ordered[any]{}
	case field.Desc.IsList():
		return []any{s.single(field)}
	}
	return s.single(field)
}

var maybeEmpty = regexp.MustCompile(`(?i)\bempty\b`)

var idPrefix = regexp.MustCompile(`^[a-z]{2,5}_…`)

// single is one value of a field for which samples.json has none.
func (s *samples) single(field *protogen.Field) any {
	comment := strings.TrimSpace(string(field.Comments.Leading))
	switch kind := field.Desc.Kind(); {
	case kind == protoreflect.MessageKind:
		return s.nested(field.Message)
	case kind == protoreflect.BoolKind:
		return false
	case kind == protoreflect.EnumKind:
		return string(field.Enum.Values[0].Desc.Name())
	case kind == protoreflect.FloatKind || kind == protoreflect.DoubleKind:
		return json.Number("0.5")
	case kind != protoreflect.StringKind:
		return json.Number("1")
	case idPrefix.MatchString(comment):
		return strings.TrimSuffix(idPrefix.FindString(comment), "…") + sampleID
	}
	return oneOf(field)
}

// oneOf is the first of the values of a string field, "" where that is one; without a set of
// values the name of the field.
func oneOf(field *protogen.Field) string {
	closed, _ := proto.GetExtension(field.Desc.Options(), parlancev1.E_Closed).(*parlancev1.ClosedSet)
	rules := rulesOf(field)
	values := slices.Concat(closed.GetValues(), rules.GetString().GetIn(), rules.GetRepeated().GetItems().GetString().GetIn())
	switch {
	case len(values) == 0 && maybeEmpty.MatchString(string(field.Comments.Leading)):
		return ""
	case len(values) == 0:
		return strings.ReplaceAll(string(field.Desc.Name()), "_", " ")
	case slices.Contains(values, ""):
		return ""
	}
	return values[0]
}

func (s *samples) nested(message *protogen.Message) any {
	switch message.Desc.FullName() {
	case "google.protobuf.Timestamp":
		return sampleTime
	case "google.protobuf.Duration":
		return "1s"
	case "google.protobuf.Struct":
		return ordered[any]{}
	case "google.protobuf.Value":
		return nil
	}
	if value, said := s.Messages[string(message.Desc.Name())]; said {
		return value
	}
	return s.message(message)
}
