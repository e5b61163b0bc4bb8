package main

import (
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// event is an outbound event and its data.
type event struct {
	name string
	data *protogen.Message
}

// eventsOf lists the events whose data a file has.
func eventsOf(file *protogen.File) []event {
	var found []event
	for _, message := range file.Messages {
		if name, _ := proto.GetExtension(message.Desc.Options(), parlancev1.E_Event).(string); name != "" {
			found = append(found, event{name, message})
		}
	}
	return found
}

// webhookOf describes the request that endpoints get for an event.
func webhookOf(e event, made *schemas) *pathItem {
	text := func(format, description string) *schema {
		return &schema{Type: "string", Format: format, Description: description}
	}
	kind := text("", "Name of the event.")
	kind.Enum = []string{e.name}
	body := &schema{
		Type: "object", Required: []string{"type", "event_id", "tenant_id", "workspace_id", "created_at", "data"},
		Properties: ordered[*schema]{
			{"type", kind},
			{"event_id", text("", "evt_…; the same in every attempt, so that a repeat can be recognised.")},
			{"tenant_id", text("", "ten_…")},
			{"workspace_id", text("", "ws_…; empty for an event of the tenant as a whole.")},
			{"created_at", text("date-time", "When it happened.")},
			{"data", made.message(e.data)},
		},
	}
	header := func(name, description string) parameter {
		return parameter{Name: name, In: "header", Required: true, Description: description, Schema: &schema{Type: "string"}}
	}
	return &pathItem{{"post", &operation{
		OperationID: "on" + string(e.data.Desc.Name()), Summary: e.name, Description: prose(e.data.Comments.Leading), Tags: []string{"events"},
		Parameters: []parameter{
			header("webhook-id", "The event's id."),
			header("webhook-timestamp", "When the attempt began, in seconds since 1970."),
			header("webhook-signature", "Standard Webhooks: for each secret v1, and the base64 HMAC-SHA256 of id.timestamp.body."),
			header("X-Parlance-Signature", "sha256= and the hex HMAC-SHA256 of the raw body, keyed with the whole secret."),
			header("X-Parlance-Event", "Name of the event."),
			header("X-Parlance-Event-Id", "The event's id."),
			header("X-Parlance-Timestamp", "As webhook-timestamp."),
		},
		RequestBody: &requestBody{Required: true, Content: map[string]mediaType{jsonType: {Schema: body, Examples: made.samples.webhook(e)}}},
		Responses: map[string]response{
			"2XX":     {Description: "Accepted for good."},
			"default": {Description: "Not accepted; see the schedule of attempts."},
		},
		Security: []map[string][]string{{}},
	}}}
}
