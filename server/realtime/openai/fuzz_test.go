package openai_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// FuzzFrame: each frame is answered with events that are valid JSON with a type and an id, or
// becomes a command.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"type":"session.update","session":{"type":"realtime","tools":[{"type":"function","name":"a",` +
			`"parameters":{"type":"object"}}],"audio":{"input":{"turn_detection":{"type":"server_vad"}}}}}`,
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`,
		`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"c","output":"x"}}`,
		`{"type":"conversation.item.retrieve","item_id":"item_1"}`,
		`{"type":"response.create","response":{"instructions":"x","metadata":{"a":"b"}}}`,
		// As openai 7.55.0 and @openai/agents-realtime 0.20.0 were seen to send them. Source:
		// realtime.md 1.2.
		`{"type":"session.update","session":{"type":"realtime","instructions":"Be brief.","model":"gpt-realtime-2.1",` +
			`"output_modalities":["audio"],"audio":{"input":{"format":{"type":"audio/pcm","rate":24000},` +
			`"noise_reduction":null,"transcription":{"model":"gpt-4o-mini-transcribe"},` +
			`"turn_detection":{"type":"semantic_vad"}},"output":{"format":{"type":"audio/pcm","rate":24000},"voice":"alloy",` +
			`"speed":1}},` +
			`"tools":[{"type":"function","name":"look","description":"Looks.","parameters":{"type":"object","properties":{},` +
			`"required":[],"additionalProperties":false}}]}}`,
		`{"type":"session.update","session":{"type":"realtime","tracing":"auto"}}`,
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}`,
		`{"type":"response.create","event_id":"agents_js_response_create_1"}`,
		`{"type":"conversation.item.truncate","item_id":"item_1","content_index":0,"audio_end_ms":480}`,
		`{"type":"conversation.item.delete","item_id":"item_1","event_id":"e1"}`,
		`{"type":"conversation.item.create","previous_item_id":"root","item":{"type":"message","role":"system",` +
			`"content":[{"type":"input_text","text":"The user is in Oslo."}]}}`,
		`{"type":"conversation.item.create","previous_item_id":"item_1","item":{"type":"function_call","call_id":"c",` +
			`"name":"look","arguments":"{}"}}`,
		`{"type":"response.create","response":{"conversation":"none","metadata":{"topic":"classification"},` +
			`"output_modalities":["text"],"instructions":"Classify.","input":[{"type":"item_reference","id":"item_1"},` +
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}],"tool_choice":{"type":"function",` +
			`"name":"look"},"max_output_tokens":"inf"}}`,
		`{"type":"response.cancel"}`, `{"type":"input_audio_buffer.append","audio":"AAAA"}`, `{"type":"\ud800"}`, `{`, `null`, `[[[[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDialect(dialect.Params{History: []sessions.Item{{ID: "item_1", Kind: sessions.UserItem}}})
		d.Open()
		step := d.Frame(data)
		events := decoded(t, step)
		if len(events)+len(step.Commands) == 0 {
			t.Errorf("%q has neither events nor commands", data)
		}
		for _, command := range step.Commands {
			for _, e := range outcomes(command) {
				events = append(events, told(t, d, e)...)
			}
		}
		for _, e := range events {
			if id, _ := e["event_id"].(string); e["type"] == "" || !strings.HasPrefix(id, "evt_") {
				t.Errorf("%q: %v", data, e)
			}
		}
	})
}

// outcomes are the events with which a conversation would answer a command.
func outcomes(command live.Command) []turns.Event {
	switch c := command.(type) {
	case live.Configure:
		return []turns.Event{live.Configured{ClientTools: c.ClientTools}}
	case live.Insert:
		item := sessions.Item{
			ID: c.ItemID, Kind: c.Kind, Text: c.Text, CallID: c.CallID, Name: c.Name, Arguments: c.Arguments,
		}
		return []turns.Event{live.ItemAdded{Item: item, PreviousItemID: c.After}}
	case live.Respond:
		return []turns.Event{
			turns.ResponseStarted{ResponseID: "resp_1", CommandID: c.CommandID, OutOfBand: c.OutOfBand},
			turns.ResponseDone{ResponseID: "resp_1", Status: turns.ResponseCompleted},
		}
	case live.Remove:
		return []turns.Event{live.ItemRemoved{ItemID: c.ItemID}}
	case live.Truncate:
		return []turns.Event{live.ItemTruncated{ItemID: c.ItemID, AudioEndMS: c.AudioEndMS}}
	case live.UserMessage:
		item := sessions.Item{ID: c.ItemID, Kind: sessions.UserItem, Text: c.Text}
		return []turns.Event{live.ItemAdded{Item: item}}
	}
	return nil
}
