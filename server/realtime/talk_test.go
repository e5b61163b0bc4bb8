package realtime_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
)

// textTurn is the order of events that both SDKs accept. Source: realtime.md 1.3.
var textTurn = []string{
	"response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
	"response.output_text.delta", "response.output_text.done", "response.content_part.done", "conversation.item.done",
	"response.output_item.done", "response.done",
}

func TestGreetingAndTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{Instructions: "Be kind.", FirstMessage: "Hello!"}, realtime.Limits{})
	f.passages.passages = []sessions.Passage{
		{SourceID: "src_1", SourceName: "Refunds", ChunkID: "chk_1", Similarity: 0.9, Text: "Fourteen days."},
	}
	f.model.then(say("In fourteen ", "days."))
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.say("When?") // during the greeting, before anything was read

	created := c.want("session.created")
	if path(created, "session", "instructions") != "Be kind." || path(created, "session", "object") != "realtime.session" ||
		path(created, "session", "audio", "input", "format", "rate") != 24000.0 {
		t.Errorf("session.created: %v", created)
	}
	greeting := c.until("response.done")
	if path(greeting[len(greeting)-1], "response", "output", 0, "content", 0, "text") != "Hello!" {
		t.Errorf("the first response is not the greeting: %v", greeting[len(greeting)-1])
	}
	answer := c.until("response.done")
	var order []string
	for _, kind := range types(answer) {
		if len(order) == 0 || order[len(order)-1] != kind {
			order = append(order, kind)
		}
	}
	// The user's item may come within the greeting's events or after.
	if order[0] == "conversation.item.added" {
		order = order[2:]
	}
	want := append([]string{}, textTurn[:len(textTurn)-1]...)
	want = append(want, "parlance.citations", "response.done")
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	done := answer[len(answer)-1]
	if path(done, "response", "output", 0, "content", 0, "text") != "In fourteen days." ||
		path(done, "response", "status") != "completed" ||
		path(done, "response", "usage", "total_tokens") != 13.0 {
		t.Errorf("response.done: %v", done)
	}
	var cited []sessions.Citation
	text, _ := path(done, "response", "metadata", "parlance_citations").(string)
	if err := json.Unmarshal([]byte(text), &cited); err != nil || len(cited) != 1 || cited[0].SourceName != "Refunds" {
		t.Errorf("citations %q: %v", text, err)
	}
}

func TestNoAnswerUntilAsked(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("Both."))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.want("session.created")
	c.send(
		`{"type":"conversation.item.create","item":{"id":"mine","type":"message","role":"user","content":[{"type":"input_text",` +
			`"text":"one"}]}}`,
	)
	if added := c.want("conversation.item.added"); path(added, "item", "id") != "mine" || added["previous_item_id"] != nil {
		t.Errorf("added: %v", added)
	}
	c.want("conversation.item.done")
	c.send(`{"type":"conversation.item.retrieve","item_id":"mine"}`)
	c.want("conversation.item.retrieved") // and no response in between
	c.say("two")
	if added := c.want("conversation.item.added"); added["previous_item_id"] != "mine" {
		t.Errorf("previous_item_id: %v", added)
	}
	c.until("response.done")
	if asked := f.model.requests(); len(asked) != 1 {
		t.Errorf("the model was asked %d times", len(asked))
	}
}

func TestServerTool(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	tool, err := f.tools.Create(t.Context(), f.ref, tools.CreateParams{
		Slug:        "order_status",
		Description: "Looks an order up.",
		Kind:        tools.KindHTTP,
		Config: tools.Config{
			WebhookURL:  f.endpoint.URL + "/orders",
			Method:      "POST",
			InputSchema: json.RawMessage(`{"type":"object"}`),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.tools.Attach(t.Context(), f.ref, tools.AttachParams{AgentID: f.agent.ID, ToolID: tool.ID, Enabled: true}); err != nil {
		t.Fatal(err)
	}
	f.endpoint.Script("/orders", httptool.Step{Body: `{"state":"shipped"}`}, httptool.Step{Status: 400, Body: "no"})
	f.model.then(call("order_status", `{"id":"7"}`), say("Shipped."), call("order_status", `{"id":"8"}`), say("Sorry."))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.say("Where is 7?")
	answer := c.until("response.done")
	var item event
	for _, e := range answer {
		kind, _ := path(e, "item", "type").(string)
		if kind == "mcp_call" && strings.HasPrefix(e["type"].(string), "conversation.item.") ||
			e["type"] == "response.mcp_call.in_progress" {
			t.Errorf("%v makes the agents SDK act", e["type"])
		}
		if kind == "function_call" {
			t.Errorf("shown as function_call: %v", e)
		}
		if kind == "mcp_call" {
			item, _ = e["item"].(event)
			if _, has := item["output"]; !has {
				t.Errorf("without output the agents SDK throws: %v", e)
			}
		}
	}
	if item["output"] != `{"state":"shipped"}` || item["arguments"] != `{"id":"7"}` || item["server_label"] != "parlance" ||
		item["error"] != nil {
		t.Errorf("mcp_call: %v", item)
	}
	if diff := cmp.Diff([]string{"mcp_call", "message"}, outputTypes(answer)); diff != "" {
		t.Errorf("output: %s", diff)
	}
	c.say("And 8?")
	answer = c.until("response.done")
	if !strings.Contains(strings.Join(types(answer), " "), "response.mcp_call.failed") ||
		path(answer[len(answer)-1], "response", "output", 0, "error", "message") == nil {
		t.Errorf("a failed call: %v", answer)
	}
}

func outputTypes(events []event) []string {
	output, _ := path(events[len(events)-1], "response", "output").([]any)
	var kinds []string
	for _, one := range output {
		kind, _ := path(one, "type").(string)
		kinds = append(kinds, kind)
	}
	return kinds
}

func TestSessionUpdateAndClientTool(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{Instructions: "Own.", ClientOverrides: []string{"model"}}, realtime.Limits{})
	f.model.then(call("pick_color", `{"n":1}`), say("Red it is."))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.want("session.created")
	c.send(
		`{"type":"session.update","session":{"type":"realtime","instructions":"Be rude.","model":"gpt-realtime-2.1",
			"tracing":"auto","output_modalities":["audio"],
		"audio":{"input":{"format":{"type":"audio/pcmu"},"noise_reduction":null,"transcription":{"model":"x"},
		"turn_detection":{"type":"semantic_vad"}},"output":{"format":{"type":"audio/pcm","rate":24000},"speed":1}},
		"tools":[{"type":"function","name":"pick_color","description":"Asks.","parameters":{"type":"object"}},{"type":"mcp",
		"server_label":"x"}]}}`,
	)
	if left := c.want("error"); path(left, "error", "param") != "session.tools[1].type" {
		t.Errorf("a tool of a server of the client's: %v", left)
	}
	updated := c.want("session.updated")
	if path(updated, "session", "instructions") != "Own." || path(updated, "session", "model") != "gpt-realtime-2.1" ||
		path(updated, "session", "output_modalities", 0) != "text" || path(updated, "session", "tools", 0, "name") != "pick_color" ||
		path(updated, "session", "tools", 1) != nil || path(updated, "session", "audio", "input", "format", "type") != "audio/pcmu" ||
		path(updated, "session", "audio", "input", "turn_detection", "type") != "semantic_vad" {
		t.Errorf("session.updated: %v", updated)
	}
	c.send(`{"type":"session.update","session":{"type":"realtime","tracing":"auto"}}`)
	if unchanged := c.want("session.updated"); path(unchanged, "session", "tools", 0, "name") != "pick_color" {
		t.Errorf("absent cleared: %v", unchanged)
	}
	c.say("Pick.")
	answer := c.until("response.done")
	if diff := cmp.Diff([]string{"function_call"}, outputTypes(answer)); diff != "" {
		t.Errorf("output: %s", diff)
	}
	called := answer[len(answer)-2]
	if called["type"] != "response.output_item.done" || path(called, "item", "status") != "completed" ||
		path(called, "item", "arguments") != `{"n":1}` {
		t.Errorf("what makes the SDK run it: %v", called)
	}
	id, _ := path(called, "item", "call_id").(string)
	c.send(
		`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"`+id+`","output":"red"}}`,
		`{"type":"response.create"}`,
	)
	answer = c.until("response.done")
	if path(answer[0], "item", "type") != "function_call_output" ||
		path(answer[len(answer)-1], "response", "output", 0, "content", 0, "text") != "Red it is." {
		t.Errorf("after the result: %v", answer)
	}
}

// TestClientToolWithoutAnswer: the model goes on when the client's time is over. A late result, or
// one of an unknown call, is an error.
func TestClientToolWithoutAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{ClientToolTimeoutSeconds: 1}, realtime.Limits{})
	f.model.then(call("pick_color", `{}`), say("No color then."))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.send(`{"type":"session.update","session":{"type":"realtime","tools":[{"type":"function","name":"pick_color"}]}}`)
	c.say("Pick.")
	answer := c.until("response.done")
	id, _ := path(answer[len(answer)-2], "item", "call_id").(string)
	answer = c.until("response.done") // without a response.create
	if path(answer[0], "item", "type") != "function_call_output" || path(answer[0], "item", "call_id") != id {
		t.Errorf("the client is not told that its call is over: %v", answer[0])
	}
	if path(answer[len(answer)-1], "response", "output", 0, "content", 0, "text") != "No color then." {
		t.Errorf("answered %v", answer[len(answer)-1])
	}
	for _, callID := range []string{id, "call_nobody"} {
		c.send(
			`{"type":"conversation.item.create","event_id":"mine","item":{"type":"function_call_output",` +
				`"call_id":"` + callID + `","output":"red"}}`,
		)
		refused := c.want("error")
		if path(refused, "error", "param") != "call_id" || path(refused, "error", "event_id") != "mine" ||
			path(refused, "error", "code") != "invalid-request" {
			t.Errorf("%s: %v", callID, refused)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(sayAndWait("Once upon"), say("Fine."))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.want("session.created")
	c.send(`{"type":"response.cancel","event_id":"e1"}`)
	refused := c.want("error")
	if path(refused, "error", "code") != "response_cancel_not_active" || path(refused, "error", "event_id") != "e1" {
		t.Errorf("nothing to cancel: %v", refused)
	}
	c.say("Tell.")
	c.until("response.output_text.delta")
	c.send(`{"type":"response.cancel"}`)
	rest := c.until("response.done")
	done := rest[len(rest)-1]
	if path(done, "response", "status") != "cancelled" || path(done, "response", "status_details", "type") != "cancelled" ||
		path(done, "response", "output", 0, "status") != "incomplete" ||
		path(done, "response", "output", 0, "content", 0, "text") != "Once upon" {
		t.Errorf("cancelled: %v", done)
	}
	c.say("On.")
	c.until("response.done")
}

func TestFailedModelIsToldInTheResponse(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.say("Hi.") // the script is empty
	answer := c.until("response.done")
	done := answer[len(answer)-1]
	if path(done, "response", "status") != "failed" || path(done, "response", "status_details", "error", "code") == nil {
		t.Errorf("failed: %v", done)
	}
	c.send(`{"type":"output_audio_buffer.clear"}`)
	c.want("output_audio_buffer.cleared") // the socket goes on
}

func TestTypingIntoAVoiceSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("In text."))
	made := f.create(t, sessions.VoiceAndText)
	voice, chat := f.dial(t, made.VoiceURL), f.dial(t, made.ChatURL)
	voice.want("session.created")
	chat.want("session.created")
	voice.send(
		`{"type":"input_audio_buffer.append","audio":"AAAA"}`,
		`{"type":"input_audio_buffer.append","audio":"AAAA"}`,
		`{"type":"input_audio_buffer.clear"}`,
	)
	if refused := voice.want("error"); path(refused, "error", "code") != "stt-not-configured" {
		t.Errorf("audio: %v", refused)
	}
	voice.want("input_audio_buffer.cleared") // the second append has no answer
	chat.send(`{"type":"input_audio_buffer.append","audio":"AAAA"}`)
	if refused := chat.want("error"); path(refused, "error", "code") != "session-modality" {
		t.Errorf("audio on chat: %v", refused)
	}
	chat.say("Hello?")
	chat.until("response.done")
	heard := voice.until("conversation.item.done") // the other socket gets both items, whole
	if path(heard[0], "item", "role") != "user" {
		t.Errorf("user's item on the other socket: %v", heard)
	}
	heard = voice.until("conversation.item.done")
	if path(heard[0], "item", "content", 0, "text") != "In text." {
		t.Errorf("answer on the other socket: %v", heard)
	}
}
