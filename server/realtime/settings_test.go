package realtime_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// TestNullClears: null restores a setting of the session's start; absent settings stay.
func TestNullClears(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{
		ClientOverrides: []string{"instructions", "model", "voice"}, Model: agents.Model{Name: "own"},
		Voice: agents.Voice{TTS: []byte(`{"voice": "ada", "speed": 1.2}`), InputAudioFormat: "g711_ulaw"},
	}, realtime.Limits{})
	c := f.dial(t, f.create(t, sessions.VoiceAndText).VoiceURL)
	shown := func(e event) event {
		session, _ := e["session"].(event)
		return event{
			"model": session["model"],
			"voice": path(session, "audio", "output", "voice"),
			"speed": path(session, "audio", "output", "speed"),
			"in":    path(session, "audio", "input", "format", "type"),
			"out":   path(session, "audio", "output", "format", "type"),
			"turns": path(session, "audio", "input", "turn_detection"),
		}
	}
	began := shown(c.want("session.created"))
	detection := event{
		"type": "server_vad", "threshold": 0.5, "prefix_padding_ms": 300.0, "silence_duration_ms": 500.0, "idle_timeout_ms": nil,
		"create_response": true, "interrupt_response": true,
	}
	want := event{"model": "own", "voice": "ada", "speed": 1.2, "in": "audio/pcmu", "out": "audio/pcm", "turns": detection}
	if diff := cmp.Diff(want, began); diff != "" {
		t.Errorf("in the beginning (-want +got):\n%s", diff)
	}
	c.send(
		`{"type":"session.update","session":{"model":"other","audio":{"input":{"format":{"type":"audio/pcma"},
			"turn_detection":{"type":"semantic_vad","eagerness":"low","interrupt_response":false}},
		"output":{"voice":"bob","speed":0.5,"format":{"type":"audio/pcma"}}}}}`,
	)
	changed := event{
		"model": "other",
		"voice": "bob",
		"speed": 0.5,
		"in":    "audio/pcma",
		"out":   "audio/pcma",
		"turns": event{"type": "semantic_vad", "eagerness": "low", "create_response": true, "interrupt_response": false},
	}
	if diff := cmp.Diff(changed, shown(c.want("session.updated"))); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	c.send(`{"type":"session.update","session":{"audio":{"input":{},"output":{}}}}`)
	if diff := cmp.Diff(changed, shown(c.want("session.updated"))); diff != "" {
		t.Errorf("absent (-want +got):\n%s", diff)
	}
	c.send(`{"type":"session.update","session":{"audio":{"output":{"voice":5}}}}`)
	if failed := c.want("error"); path(failed, "error", "param") != "session.audio.output.voice" ||
		path(failed, "error", "code") != "invalid_type" {
		t.Errorf("a voice that is none: %v", failed)
	}
	c.want("session.updated")
	c.send(
		`{"type":"session.update","session":{"model":null,"audio":{"input":{"format":null,"turn_detection":null},` +
			`"output":{"voice":null,"speed":null,"format":null}}}}`,
	)
	began["turns"] = nil // the client commits
	if diff := cmp.Diff(began, shown(c.want("session.updated"))); diff != "" {
		t.Errorf("null (-want +got):\n%s", diff)
	}
}

// TestShownIsInForce: session.updated shows no tool that is not offered, and no choice of one.
func TestShownIsInForce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("Hm."))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.want("session.created")
	refused := func(param string) {
		t.Helper()
		if failed := c.want("error"); path(failed, "error", "code") != "invalid_value" ||
			path(failed, "error", "param") != param ||
			path(failed, "error", "event_id") != "e" {
			t.Errorf("%v", failed)
		}
	}
	c.send(
		`{"type":"session.update","event_id":"e","session":{"tools":[{"type":"function","name":"end_call"},{"type":"function",` +
			`"name":"look"}],"tool_choice":{"type":"function","name":"look"}}}`,
	)
	refused("session.tools")
	updated := c.want("session.updated")
	if tools, _ := path(updated, "session", "tools").([]any); len(tools) != 1 || path(tools, 0, "name") != "look" ||
		path(updated, "session", "tool_choice", "name") != "look" {
		t.Errorf("%v", updated)
	}
	c.send(`{"type":"session.update","event_id":"e","session":{"tools":[{"type":"function","name":"listen"}]}}`)
	refused("session.tool_choice")
	if updated := c.want("session.updated"); path(updated, "session", "tool_choice") != "auto" ||
		path(updated, "session", "tools", 0, "name") != "listen" {
		t.Errorf("%v", updated)
	}
	c.say("Hi.")
	c.until("response.done")
	asked := f.model.requests()[0]
	if offered := asked.Tools[len(asked.Tools)-1].Name; asked.ToolChoice != "" || offered != "listen" {
		t.Errorf("the model was asked with %q and %q", asked.ToolChoice, offered)
	}
}
