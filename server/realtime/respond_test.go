package realtime_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

func last(events []event) event { return events[len(events)-1] }

// endAs answers with a text and a finish reason.
func endAs(text string, reason model.FinishReason) step {
	return func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		result, err := say(text)(ctx, req, emit)
		result.FinishReason = reason
		return result, err
	}
}

// TestOutOfBand gives a response out of band while one of the conversation is open.
func TestOutOfBand(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{Instructions: "Be kind.", ClientOverrides: []string{"instructions"}}, realtime.Limits{})
	f.model.then(sayAndWait("Well,"), say("billing"), say("With both."))
	made := f.create(t, sessions.VoiceAndText)
	c, other := f.dial(t, made.ChatURL), f.dial(t, made.VoiceURL)
	other.want("session.created")
	c.send(put("a", "user", "My bill is wrong.", ""), `{"type":"response.create"}`)
	c.until("response.output_text.delta")
	c.send(
		`{"type":"response.create","event_id":"aside","response":{"conversation":"none","instructions":"Classify.",` +
			`"metadata":{"topic":"class"},"max_output_tokens":9,"tool_choice":"none"}}`,
	)
	answer := c.until("response.done")
	if diff := cmp.Diff([]string{
		"response.created", "response.output_item.added", "response.content_part.added", "response.output_text.delta",
		"response.output_text.done", "response.content_part.done", "response.output_item.done", "response.done",
	}, types(answer)); diff != "" {
		t.Errorf("events of a response out of band (-want +got):\n%s", diff)
	}
	done := last(answer)
	if path(done, "response", "conversation_id") != nil || path(done, "response", "metadata", "topic") != "class" ||
		path(done, "response", "max_output_tokens") != 9.0 ||
		path(done, "response", "output", 0, "content", 0, "text") != "billing" ||
		path(done, "response", "usage", "total_tokens") != 13.0 {
		t.Errorf("done %v", done)
	}
	if asked := f.model.requests()[1]; asked.System != "Classify." || asked.MaxOutputTokens != 9 || len(asked.Tools) != 0 {
		t.Errorf("asked %+v", asked)
	}
	wantSeen(t, f, "user: My bill is wrong.")
	item, _ := path(done, "response", "output", 0, "id").(string)
	c.send(`{"type":"conversation.item.retrieve","item_id":"`+item+`"}`, `{"type":"response.cancel"}`)
	if failed := c.want("error"); path(failed, "error", "code") != "item_retrieve_invalid_item_id" {
		t.Errorf("its item is in the conversation: %v", failed)
	}
	if cancelled := last(c.until("response.done")); path(cancelled, "response", "status_details", "reason") != "client_cancelled" ||
		path(cancelled, "response", "conversation_id") != string(made.Session.ID) {
		t.Errorf("cancelled %v", cancelled)
	}
	for _, e := range other.until("conversation.item.done") {
		if path(e, "item", "id") == item {
			t.Errorf("the other socket heard of it: %v", e)
		}
	}
	c.say("And?")
	c.until("response.done")
	wantSeen(t, f, "user: My bill is wrong.", "assistant: Well,", "user: And?")
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, pageOf(10))
	if err != nil || len(turns) != 2 {
		t.Errorf("transcript %+v, %v", turns, err)
	}
	// The answer that was cancelled is counted by estimates: its prompt, and two tokens for
	// "Well,".
	if session := f.session(t, made.Session.ID); session.InputTokens <= 20 || session.OutputTokens != 6+2 ||
		session.TurnCount != 2 {
		t.Errorf("usage %d %d of %d turns", session.InputTokens, session.OutputTokens, session.TurnCount)
	}
}

func TestResponseInput(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("One."), say("Two."), say("Three."), say("Four."))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.want("session.created")
	c.send(put("a", "user", "first", ""), `{"type":"response.create"}`)
	c.until("response.done")
	c.send(
		`{"type":"response.create","response":{"conversation":"none","input":[{"type":"item_reference","id":"a"},` +
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"said"}]},` +
			`{"type":"function_call","call_id":"c","name":"look","arguments":"{}"},{"type":"function_call_output","call_id":"c",` +
			`"output":"seen"}]}}`,
	)
	c.until("response.done")
	wantSeen(t, f, "user: first", "assistant: said", "assistant: look{}", "tool: seen")
	c.send(`{"type":"response.create","response":{"conversation":"none","input":[]}}`)
	c.until("response.done")
	wantSeen(t, f, "user: (There is no conversation to see. Do what the instructions say.)")
	// In the conversation: what it sees is the input, what it says stays.
	c.send(
		`{"type":"response.create","response":{"input":[{"type":"message","role":"user","content":[{"type":"input_text",` +
			`"text":"only this"}]}]}}`,
	)
	if answer := c.until("response.done"); !strings.Contains(strings.Join(types(answer), " "), "conversation.item.done") {
		t.Errorf("its item is not the conversation's: %v", types(answer))
	}
	wantSeen(t, f, "user: only this")
	c.send(`{"type":"response.create","event_id":"e","response":{"input":[{"type":"item_reference","id":"nothing"}]}}`)
	if failed := c.want("error"); path(failed, "error", "code") != "invalid_value" ||
		path(failed, "error", "param") != "response.input" ||
		path(failed, "error", "event_id") != "e" {
		t.Errorf("got %v", failed)
	}
	c.send(
		`{"type":"response.create","event_id":"o","response":{"conversation":"none","input":[{"type":"function_call_output",` +
			`"call_id":"nobody","output":"seen"}]}}`,
	)
	if failed := c.want("error"); path(failed, "error", "code") != "invalid_value" ||
		path(failed, "error", "param") != "response.input" ||
		path(failed, "error", "event_id") != "o" {
		t.Errorf("a result without its call: %v", failed)
	}
}

// TestOutOfBandIsBounded: at most four responses out of band are open, and each can be cancelled by
// its id.
func TestOutOfBandIsBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	for range 4 {
		f.model.then(sayAndWait("…"))
	}
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	var ids []string
	for range 4 {
		c.send(`{"type":"response.create","response":{"conversation":"none","input":[]}}`)
		id, _ := path(last(c.until("response.created")), "response", "id").(string)
		ids = append(ids, id)
		c.until("response.output_text.delta")
	}
	c.send(`{"type":"response.create","event_id":"fifth","response":{"conversation":"none"}}`, `{"type":"response.cancel"}`)
	if failed := c.want("error"); path(failed, "error", "code") != "rate-limited" ||
		path(failed, "error", "event_id") != "fifth" {
		t.Errorf("a fifth: %v", failed)
	}
	if failed := c.want("error"); path(failed, "error", "code") != "response_cancel_not_active" {
		t.Errorf("cancelled without an id: %v", failed)
	}
	c.send(`{"type":"response.cancel","response_id":"` + ids[2] + `"}`)
	if done := last(c.until("response.done")); path(done, "response", "id") != ids[2] ||
		path(done, "response", "status") != "cancelled" {
		t.Errorf("cancelled %v", done)
	}
	// The end of the session stops the others first.
	end := sessions.EndParams{Status: sessions.Completed, Reason: "enough"}
	if _, err := f.End(t.Context(), f.principal, made.Session.ID, end); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.until("response.done")
	}
	if closed := c.closed(); closed.Code != 1000 || closed.Reason != "enough" {
		t.Errorf("closed %v", closed)
	}
}

func TestResponseOptions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{Model: agents.Model{MaxOutputTokens: 100}}, realtime.Limits{})
	f.model.then(say("a"), call("other", `{}`), say("b"), endAs("cut", model.FinishLength), endAs("", model.FinishFiltered))
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.want("session.created")
	c.send(
		`{"type":"session.update","session":{"type":"realtime","tools":[{"type":"function","name":"look",` +
			`"parameters":{"type":"object"}}],"tool_choice":"required","max_output_tokens":50,` +
			`"output_modalities":["audio"],"tracing":{"workflow_name":"w"},` +
			`"audio":{"input":{"transcription":{"model":"whisper-1"},"noise_reduction":{"type":"near_field"},` +
			`"turn_detection":{"type":"server_vad"}},"output":{"speed":1.2}}}}`,
	)
	session, _ := c.want("session.updated")["session"].(event)
	want := map[string]any{
		"tool_choice":       "required",
		"max_output_tokens": 50.0,
		"output_modalities": []any{"text"},
		"tracing":           event{"workflow_name": "w"},
	}
	for member, value := range want {
		if diff := cmp.Diff(value, session[member]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", member, diff)
		}
	}
	if diff := cmp.Diff(event{"model": "whisper-1"}, path(session, "audio", "input", "transcription")); diff != "" ||
		path(session, "audio", "input", "noise_reduction", "type") != "near_field" ||
		path(session, "audio", "input", "turn_detection", "type") != "server_vad" ||
		path(session, "audio", "output", "speed") != 1.2 {
		t.Errorf("audio %v", session["audio"])
	}
	round := 1 // the request that is checked, from the last
	wantAsked := func(choice model.ToolChoice, tokens int, tools ...string) {
		t.Helper()
		asked := f.model.requests()
		req := asked[len(asked)-round]
		var names []string
		for _, tool := range req.Tools {
			if !strings.Contains("end_call skip_turn language_detection", tool.Name) {
				names = append(names, tool.Name)
			}
		}
		if diff := cmp.Diff(tools, names); diff != "" || req.ToolChoice != choice || req.MaxOutputTokens != tokens {
			t.Errorf(
				"asked with %q, %d tokens and the tools %v; want %q, %d, %v",
				req.ToolChoice,
				req.MaxOutputTokens,
				names,
				choice,
				tokens,
				tools,
			)
		}
	}
	c.say("one")
	c.until("response.done")
	wantAsked(model.ChooseRequired, 50, "look")
	c.send(
		`{"type":"response.create","response":{"tools":[{"type":"function","name":"find"}],"tool_choice":{"type":"function",` +
			`"name":"find"},"max_output_tokens":"inf"}}`,
	)
	if done := last(c.until("response.done")); path(done, "response", "max_output_tokens") != 100.0 {
		t.Errorf("done %v", done)
	}
	wantAsked(model.ChooseAuto, 100, "find") // once a call has its result
	round = 2
	wantAsked("find", 100, "find")
	round = 1
	c.send(`{"type":"session.update","session":{"tool_choice":null,"max_output_tokens":null,"tools":[]}}`)
	updated := last(c.until("session.updated"))
	if path(updated, "session", "tool_choice") != "auto" || path(updated, "session", "max_output_tokens") != 100.0 ||
		path(updated, "session", "tracing", "workflow_name") != "w" {
		t.Errorf("updated %v", updated)
	}
	c.say("more")
	done := last(c.until("response.done"))
	if path(done, "response", "status") != "incomplete" ||
		path(done, "response", "status_details", "reason") != "max_output_tokens" {
		t.Errorf("cut by the model: %v", done)
	}
	var usage map[string]any
	raw, _ := json.Marshal(path(done, "response", "usage"))
	_ = json.Unmarshal(raw, &usage)
	wantUsage := event{
		"total_tokens": 13.0, "input_tokens": 10.0, "output_tokens": 3.0,
		"input_token_details": event{
			"text_tokens": 10.0, "audio_tokens": 0.0, "image_tokens": 0.0, "cached_tokens": 0.0,
			"cached_tokens_details": event{"text_tokens": 0.0, "audio_tokens": 0.0, "image_tokens": 0.0},
		},
		"output_token_details": event{"text_tokens": 3.0, "audio_tokens": 0.0},
	}
	if diff := cmp.Diff(wantUsage, usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	c.say("again")
	if done := last(c.until("response.done")); path(done, "response", "status_details", "reason") != "content_filter" {
		t.Errorf("filtered by the model: %v", done)
	}
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, pageOf(10))
	if err != nil || turns[len(turns)-2].Status != sessions.TurnCompleted {
		t.Errorf("transcript %+v, %v", turns, err)
	}
}

// TestUnsupportedSettings: what does not exist here, or is not allowed, is an error, and the rest
// of the event applies.
func TestUnsupportedSettings(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{Instructions: "Be kind.", ClientOverrides: []string{"model"}}, realtime.Limits{})
	f.model.then(say("Bye."), say("Kindly."))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.want("session.created")
	wantErrors := func(want map[string]string) {
		t.Helper()
		got := map[string]string{}
		for range want {
			failed := last(c.until("error"))
			param, _ := path(failed, "error", "param").(string)
			got[param], _ = path(failed, "error", "code").(string)
			if path(failed, "error", "event_id") != "e" {
				t.Errorf("whose error is %v?", failed)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("errors (-want +got):\n%s", diff)
		}
	}
	c.send(
		`{"type":"session.update","event_id":"e","session":{"type":"realtime","tools":[{"type":"function","name":"look"},` +
			`{"type":"mcp","server_label":"x","server_url":"https://mcp.example"}],` +
			`"tool_choice":{"type":"function","name":"gone"},"prompt":{"id":"pmpt_1"},` +
			`"include":["item.input_audio_transcription.logprobs"],"truncation":"disabled","instructions":"Shout.","model":5}}`,
	)
	wantErrors(map[string]string{
		"session.tools[1].type": "invalid_value",
		"session.tool_choice":   "invalid_value",
		"session.prompt":        "invalid_value",
		"session.include":       "invalid_value",
		"session.truncation":    "invalid_value",
		"session.model":         "invalid_type",
	})
	updated := c.want("session.updated")
	if shown, _ := path(updated, "session", "tools").([]any); len(shown) != 1 ||
		path(updated, "session", "tool_choice") != "auto" ||
		path(updated, "session", "instructions") != "Be kind." {
		t.Errorf("in force: %v", updated)
	}
	c.send(
		`{"type":"session.update","session":{"type":"realtime","include":[],"truncation":"auto","prompt":null,` +
			`"tool_choice":{"type":"function","name":"look"}}}`,
	)
	if updated := c.want("session.updated"); path(updated, "session", "tool_choice", "name") != "look" {
		t.Errorf("in force: %v", updated)
	}
	for _, response := range []string{
		`"tool_choice":{"type":"function","name":"gone"}`, `"tool_choice":{"type":"mcp","server_label":"parlance","name":"gone"}`,
		`"tool_choice":{"type":"function","name":"look"},"tools":[]`, `"conversation":"none","tool_choice":{"type":"mcp",` +
			`"server_label":"parlance","name":"end_call"}`,
	} {
		c.send(`{"type":"response.create","event_id":"e","response":{` + response + `}}`)
		wantErrors(map[string]string{"response.tool_choice": "invalid_value"})
	}
	c.send(`{"type":"response.create","response":{"tool_choice":{"type":"mcp","server_label":"parlance","name":"skip_turn"}}}`)
	c.until("response.done")
	if asked := f.model.requests(); len(asked) != 1 || asked[0].ToolChoice != "skip_turn" {
		t.Errorf("asked %d times, of which the first has %+v", len(asked), asked[0].ToolChoice)
	}
	c.send(
		`{"type":"response.create","event_id":"e","response":{"instructions":"Shout.","metadata":{"of":"mine"},` +
			`"tools":[{"type":"web_search"}]}}`,
	)
	wantErrors(map[string]string{"response.tools[0].type": "invalid_value", "response.instructions": "override-not-allowed"})
	if done := last(c.until("response.done")); path(done, "response", "metadata", "of") != "mine" {
		t.Errorf("done %v", done)
	}
	if asked := f.model.requests(); !strings.Contains(asked[1].System, "Be kind.") ||
		strings.Contains(asked[1].System, "Shout.") {
		t.Errorf("instructions %q", asked[1].System)
	}
}

// TestAudio: without a transcriber audio is an item without a transcript.
func TestAudio(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("Please write."))
	c := f.dial(t, f.create(t, sessions.Voice).VoiceURL)
	c.want("session.created")
	piece := `{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("A", 6400) + `"}` // 4800 bytes, 100 ms
	c.send(
		`{"type":"input_audio_buffer.append","event_id":"b","audio":"?"}`,
		piece,
		piece,
		`{"type":"input_audio_buffer.clear"}`,
		`{"type":"input_audio_buffer.commit","event_id":"e"}`,
	)
	if failed := c.want("error"); path(failed, "error", "code") != "invalid_value" || path(failed, "error", "event_id") != "b" {
		t.Errorf("not Base64: %v", failed)
	}
	if failed := c.want("error"); path(failed, "error", "code") != "stt-not-configured" {
		t.Errorf("audio without a transcriber: %v", failed)
	}
	c.want("input_audio_buffer.cleared")
	if failed := c.want("error"); path(failed, "error", "code") != "input_audio_buffer_commit_empty" ||
		path(failed, "error", "event_id") != "e" {
		t.Errorf("nothing to commit: %v", failed)
	}
	c.send(piece, piece, `{"type":"input_audio_buffer.commit"}`, `{"type":"response.create"}`)
	committed := c.want("input_audio_buffer.committed")
	added := c.want("conversation.item.added")
	want := []any{event{"type": "input_audio", "transcript": nil}}
	if diff := cmp.Diff(want, path(added, "item", "content")); diff != "" || path(added, "item", "id") != committed["item_id"] {
		t.Errorf("item %v (-want +got):\n%s", added, diff)
	}
	c.want("conversation.item.done")
	failed := c.want("conversation.item.input_audio_transcription.failed")
	want = []any{
		event{
			"type": "transcription_error",
			"code": "stt-not-configured",
			"message": "No transcriber is configured, so audio is not heard. Send text; it is answered." +
				" The operator can set PARLANCE_STT_BASE_URL.",
		},
	}
	if diff := cmp.Diff(want, []any{failed["error"]}); diff != "" || failed["item_id"] != committed["item_id"] {
		t.Errorf("transcription %v (-want +got):\n%s", failed, diff)
	}
	c.until("response.done")
	item, _ := committed["item_id"].(string)
	c.send(`{"type":"conversation.item.truncate","item_id":"` + item + `","content_index":0,"audio_end_ms":10}`)
	if failed := c.want("error"); path(failed, "error", "message") != "Only audio of the agent can be truncated; this item is the user's." {
		t.Errorf("truncated what the user said: %v", failed)
	}
	if asked := f.model.requests()[0].Messages; len(asked) != 1 || !strings.Contains(asked[0].Text, "The user spoke here") {
		t.Errorf("the model saw %+v", asked)
	}
}
