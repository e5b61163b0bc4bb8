package openai_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
)

func TestRefusedFrames(t *testing.T) {
	t.Parallel()
	long, tooLong := strings.Repeat("x", 129), strings.Repeat("ä", sessions.MaxTextChars+1)
	rows := []struct{ frame, code, param string }{
		{`{`, "invalid_json", ""},
		{``, "invalid_json", ""},
		{`null`, "invalid_json", ""},
		{`[]`, "invalid_json", ""},
		{`"x"`, "invalid_json", ""},
		{`{}`, "missing_required_parameter", "type"},
		{`{"type":5}`, "invalid_type", "type"},
		{`{"type":"response.create","event_id":5}`, "invalid_type", "event_id"},
		{`{"type":"nonsense"}`, "unknown_event", "type"},
		{`{"type":"session.update"}`, "missing_required_parameter", "session"},
		{`{"type":"session.update","session":[]}`, "missing_required_parameter", "session"},
		{`{"type":"session.update","session":{"type":"transcription"}}`, "invalid_value", "session.type"},
		{`{"type":"session.update","session":{"tools":{}}}`, "invalid_type", "session.tools"},
		{
			`{"type":"session.update","session":{"tools":[{"type":"function","name":"a b"}]}}`,
			"invalid_value",
			"session.tools[0].name",
		},
		{
			`{"type":"session.update","session":{"tools":[{"type":"function","name":"a","parameters":3}]}}`,
			"invalid_value",
			"session.tools[0].parameters",
		},
		{
			`{"type":"session.update","session":{"audio":{"input":{"format":{"type":"mp3"}}}}}`,
			"invalid_value",
			"session.audio.input.format.type",
		},
		{
			`{"type":"session.update","session":{"audio":{"output":{"format":{"type":"audio/pcm","rate":8000}}}}}`,
			"invalid_value",
			"session.audio.output.format.rate",
		},
		{
			`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"x"}}}}}`,
			"invalid_value",
			"session.audio.input.turn_detection",
		},
		{`{"type":"conversation.item.create"}`, "missing_required_parameter", "item"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":5}}`, "invalid_type", "item.role"},
		{
			`{"type":"conversation.item.create","item":{"type":"message","role":"system","content":[]}}`,
			"missing_required_parameter",
			"item.content",
		},
		{
			`{"type":"conversation.item.create","item":{"type":"message","role":"tool","content":[]}}`,
			"invalid_value",
			"item.role",
		},
		{
			`{"type":"conversation.item.create","item":{"type":"message","role":"assistant","content":[{"type":"input_text",` +
				`"text":"x"}]}}`,
			"invalid_value",
			"item.content",
		},
		{
			`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_image",` +
				`"image_url":"data:"}]}}`,
			"invalid_value",
			"item.content",
		},
		{
			`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_audio"}]}}`,
			"invalid_value",
			"item.content",
		},
		{
			`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[]}}`,
			"missing_required_parameter",
			"item.content",
		},
		{
			`{"type":"conversation.item.create","item":{"id":"item_1","type":"message","role":"user",` +
				`"content":[{"type":"input_text","text":"x"}]}}`,
			"item_create_duplicate_id",
			"item.id",
		},
		{`{"type":"conversation.item.create","item":{"id":"` + long + `","type":"message"}}`, "invalid_value", "item.id"},
		{
			`{"type":"conversation.item.create","item":{"type":"function_call_output","output":"x"}}`,
			"missing_required_parameter",
			"item",
		},
		{`{"type":"conversation.item.create","item":{"type":"function_call"}}`, "missing_required_parameter", "item"},
		{
			`{"type":"conversation.item.create","item":{"type":"function_call","call_id":"c","name":"n","arguments":"[]"}}`,
			"invalid_value",
			"item.arguments",
		},
		{`{"type":"conversation.item.create","item":{"type":"mcp_call"}}`, "invalid_value", "item.type"},
		{
			`{"type":"session.update","session":{"tools":[{"type":"function","name":"a"},{"type":"function","name":"a"}]}}`,
			"invalid_value",
			"session.tools[1].name",
		},
		{`{"type":"conversation.item.retrieve"}`, "missing_required_parameter", "item_id"},
		{`{"type":"conversation.item.delete"}`, "missing_required_parameter", "item_id"},
		{`{"type":"conversation.item.truncate"}`, "missing_required_parameter", "item_id"},
		{`{"type":"conversation.item.truncate","item_id":"item_1"}`, "missing_required_parameter", "audio_end_ms"},
		{
			`{"type":"conversation.item.truncate","item_id":"item_1","audio_end_ms":5,"content_index":1}`,
			"invalid_value",
			"content_index",
		},
		{`{"type":"response.create","response":5}`, "invalid_type", "response"},
		{`{"type":"response.create","response":{"conversation":"other"}}`, "invalid_value", "response.conversation"},
		{`{"type":"response.create","response":{"input":[{}]}}`, "invalid_value", "response.input[0].type"},
		{`{"type":"response.create","response":{"input":[{"type":"item_reference"}]}}`, "invalid_value", "response.input[0].id"},
		{`{"type":"response.create","response":{"max_output_tokens":0}}`, "invalid_value", "response.max_output_tokens"},
		{`{"type":"response.create","response":{"max_output_tokens":"all"}}`, "invalid_value", "response.max_output_tokens"},
		{`{"type":"response.create","response":{"tool_choice":"any"}}`, "invalid_value", "response.tool_choice"},
		{
			`{"type":"response.create","response":{"tool_choice":{"type":"mcp","server_label":"other","name":"x"}}}`,
			"invalid_value",
			"response.tool_choice",
		},
		{`{"type":"response.create","response":{"tools":[{"type":"function"}]}}`, "invalid_value", "response.tools[0].name"},
		{`{"type":"response.create","response":{"output_modalities":["video"]}}`, "invalid_value", "response.output_modalities"},
		{`{"type":"response.create","response":{"prompt":{"id":"pmpt_1"}}}`, "invalid_value", "response.prompt"},
		{`{"type":"session.update","session":{"output_modalities":[]}}`, "invalid_value", "session.output_modalities"},
		{`{"type":"session.update","session":{"max_output_tokens":-1}}`, "invalid_value", "session.max_output_tokens"},
		{`{"type":"session.update","session":{"tool_choice":5}}`, "invalid_value", "session.tool_choice"},
		{`{"type":"session.update","session":{"tracing":"never"}}`, "invalid_value", "session.tracing"},
		{`{"type":"session.update","session":{"audio":{"output":{"speed":9}}}}`, "invalid_value", "session.audio.output.speed"},
		{
			`{"type":"session.update","session":{"audio":{"input":{"noise_reduction":{"type":"x"}}}}}`,
			"invalid_value",
			"session.audio.input.noise_reduction",
		},
		{
			`{"type":"session.update","session":{"audio":{"input":{"transcription":"whisper"}}}}`,
			"invalid_value",
			"session.audio.input.transcription",
		},
		{`{"type":"response.create","response":{"metadata":{"a":1}}}`, "invalid_type", "response.metadata.a"},
		{`{"type":"response.create","response":{"metadata":{"a":null}}}`, "invalid_type", "response.metadata.a"},
		{
			`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"server_vad","threshold":"high"}}}}}`,
			"invalid_type",
			"session.audio.input.turn_detection.threshold",
		},
		{
			`{"type":"session.update","session":{"audio":{"input":{"transcription":{"language":5}}}}}`,
			"invalid_type",
			"session.audio.input.transcription.language",
		},
		{`{"type":"session.update","session":{"tracing":{"group_id":5}}}`, "invalid_type", "session.tracing.group_id"},
		{
			`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text",` +
				`"text":"` + tooLong + `"}]}}`,
			"invalid_value",
			"item.content[0].text",
		},
		{
			`{"type":"conversation.item.create","item":{"type":"message","role":"system","content":[{"type":"input_text",` +
				`"text":"a\u0000b"}]}}`,
			"invalid_value",
			"item.content[0].text",
		},
		{
			`{"type":"response.create","response":{"input":[{"type":"message","role":"user","content":[{"type":"input_text",` +
				`"text":"\u0000b"}]}]}}`,
			"invalid_value",
			"response.input[0].content[0].text",
		},
		{`{"type":"input_audio_buffer.commit"}`, "input_audio_buffer_commit_empty", ""},
	}
	for _, row := range rows {
		d := newDialect(dialect.Params{History: []sessions.Item{{ID: "item_1", Kind: sessions.UserItem, Text: "hi"}}})
		d.Open()
		step := d.Frame([]byte(row.frame))
		events := decoded(t, step)
		if len(events) != 1 || len(step.Commands) != 0 || events[0]["type"] != "error" {
			t.Errorf("%s: got %v and %v, want one error", row.frame, events, step.Commands)
			continue
		}
		param, _ := field(events[0], "error", "param").(string)
		if field(events[0], "error", "code") != row.code ||
			(param != row.param && !strings.HasPrefix(row.param, "response.metadata")) {
			t.Errorf("%s: got %v, want %s at %q", row.frame, events[0]["error"], row.code, row.param)
		}
		if field(events[0], "error", "type") != "invalid_request_error" || field(events[0], "error", "message") == "" {
			t.Errorf("%s: %v", row.frame, events[0])
		}
	}
}

func TestBinaryFrame(t *testing.T) {
	t.Parallel()
	d := newDialect(dialect.Params{})
	events := decoded(t, d.BinaryFrame())
	if len(events) != 1 || field(events[0], "error", "code") != "invalid_event" {
		t.Errorf("got %v", events)
	}
}
