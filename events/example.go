package events

import (
	_ "embed"
	"encoding/json"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// What ExampleBody has outside of the payload.
const (
	exampleEvent     = "evt_01jgk2m0q5example0event0"
	exampleTenant    = "ten_01jgk2m0q5example0tenant"
	exampleWorkspace = "ws_01jgk2m0q5example0worksp"
)

var exampleTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// examplesJSON has a payload of each public type, with every field.
//
//go:embed examples.json
var examplesJSON []byte

var examples = sync.OnceValue(func() map[Type]json.RawMessage {
	var byType map[Type]json.RawMessage
	if err := json.Unmarshal(examplesJSON, &byType); err != nil {
		panic("events: examples.json: " + err.Error()) // it is compiled in and tested
	}
	return byType
})

// Example returns a realistic payload of the public type, with every field, for tests of receivers
// and for the documentation; nil for other types.
func Example(t Type) proto.Message {
	payload := NewPayload(t)
	if payload == nil {
		return nil
	}
	if err := protojson.Unmarshal(examples()[t], payload); err != nil {
		panic("events: the example of " + string(t) + ": " + err.Error()) // as above
	}
	return payload
}

// ExampleBody returns the JSON that endpoints receive for an example; nil for a type that is not
// public.
func ExampleBody(t Type) ([]byte, error) {
	payload := Example(t)
	if payload == nil {
		return nil, nil
	}
	e := Event{ID: exampleEvent, TenantID: exampleTenant, WorkspaceID: exampleWorkspace, Type: t, Payload: payload, CreatedAt: exampleTime}
	if t.TenantWide() {
		e.WorkspaceID = ""
	}
	return Body(e)
}
