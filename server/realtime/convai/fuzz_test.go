package convai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
)

// FuzzFrame: each frame is answered or becomes a command.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"type":"conversation_initiation_client_data","conversation_config_override":{"agent":{"prompt":{"prompt":"x"},` +
			`"first_message":"y","language":"de"},"tts":{"voice_id":"v","speed":1},"asr":{"keywords":["a"]},` +
			`"conversation":{"text_only":true,"client_events":["audio"]}},"dynamic_variables":{"a":"b","c":1,"d":true},` +
			`"source_info":{"source":"js_sdk","version":"1.25.0"}}`,
		`{"type":"user_message","text":"Hello"}`, `{"type":"user_activity"}`, `{"type":"contextual_update","text":"x","context_id":"c"}`,
		`{"type":"client_tool_result","tool_call_id":"c","result":{"a":1},` +
			`"is_error":false}`, `{"type":"mcp_tool_approval_result","tool_call_id":"c","is_approved":true}`,
		`{"type":"feedback","score":null,"event_id":2}`, `{"type":"pong","event_id":1}`, `{"user_audio_chunk":"AAAA"}`,
		`{"type":"multimodal_message","text":{"type":"user_message","text":"x"},"files":[{"type":"file_input",` +
			`"file_id":"f"}]}`, `{"type":null}`, `[`, `{"text":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDialect(sessions.VoiceChannel)
		step := d.Frame(data)
		decoded(t, step)
		var head struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(data, &head) // what cannot be read must be refused
		quiet := head.Type == "pong" || head.Type == "conversation_initiation_client_data"
		if len(step.Frames)+len(step.Commands) == 0 && !quiet {
			t.Errorf("%q came to nothing", data)
		}
		for _, command := range step.Commands {
			if said, ok := command.(live.UserMessage); ok && strings.TrimSpace(said.Text) == "" {
				t.Errorf("%q says nothing", data)
			}
		}
	})
}
