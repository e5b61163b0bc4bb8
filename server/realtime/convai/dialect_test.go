package convai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/convai"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice"
)

type event = map[string]any

func newDialect(channel sessions.Channel) *convai.Dialect {
	d := convai.New(dialect.Params{Session: sessions.Session{ID: "ses_1", UserID: "user-1"}, Channel: channel})
	d.Open()
	d.PauseEnded()
	return d
}

func decoded(t testing.TB, step dialect.Step) []event {
	t.Helper()
	if step.Err != nil {
		t.Fatal(step.Err)
	}
	var events []event
	for _, frame := range step.Frames {
		var e event
		if err := json.Unmarshal(frame.Data, &e); err != nil {
			t.Fatalf("%q: %v", frame.Data, err)
		}
		events = append(events, e)
	}
	return events
}

// told is the events for the client that an event of the conversation leads to, sent those that a
// client's frame leads to.
func told(t testing.TB, d *convai.Dialect, e turns.Event) []event {
	t.Helper()
	return decoded(t, d.Event(e))
}

func sent(t testing.TB, d *convai.Dialect, frame string) []event {
	t.Helper()
	return decoded(t, d.Frame([]byte(frame)))
}

func field(e event, steps ...string) any {
	var value any = e
	for _, step := range steps {
		object, _ := value.(event)
		value = object[step]
	}
	return value
}

func TestRefusedFrames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 32_001)
	rows := []struct{ frame, errorType, field string }{
		{`{`, "invalid_message", ""},
		{``, "invalid_message", ""},
		{`null`, "invalid_message", ""},
		{`[]`, "invalid_message", ""},
		{`{}`, "missing_fields", "type"},
		{`{"type":5}`, "value_error", "type"},
		{`{"type":"session.update"}`, "invalid_message", "type"},
		{`{"type":"user_message"}`, "missing_fields", "text"},
		{`{"type":"user_message","text":null}`, "missing_fields", "text"},
		{`{"type":"user_message","text":5}`, "value_error", "text"},
		{`{"type":"user_message","text":"  "}`, "missing_fields", "text"},
		{`{"type":"user_message","text":"a\u0000"}`, "value_error", "text"},
		{`{"type":"user_message","text":"` + long + `"}`, "value_error", "text"},
		{`{"type":"contextual_update"}`, "missing_fields", "text"},
		{`{"type":"contextual_update","text":""}`, "missing_fields", "text"},
		{`{"type":"multimodal_message"}`, "missing_fields", "text"},
		{`{"type":"multimodal_message","text":"x"}`, "value_error", "text"},
		{`{"type":"multimodal_message","text":{"type":"user_message"}}`, "missing_fields", "text.text"},
		{`{"type":"multimodal_message","file":{"type":"file_input","file_id":"f"}}`, "value_error", "files"},
		{`{"type":"multimodal_message","files":[{"type":"file_input","file_id":"f"}]}`, "value_error", "files"},
		{`{"type":"client_tool_result","result":"x"}`, "missing_fields", "tool_call_id"},
		{`{"type":"client_tool_result","tool_call_id":"c","is_error":"no"}`, "value_error", "is_error"},
		{`{"type":"mcp_tool_approval_result","tool_call_id":"c"}`, "missing_fields", "is_approved"},
		{`{"type":"feedback","score":"like"}`, "missing_fields", "event_id"},
		{`{"type":"feedback","score":"good","event_id":2}`, "value_error", "score"},
		{`{"type":"feedback","score":"like","event_id":3}`, "value_error", "event_id"},
		{`{"type":"feedback","score":"like","event_id":-2}`, "value_error", "event_id"},
		{`{"type":"pong"}`, "missing_fields", "event_id"},
		{`{"type":"user_audio_chunk","user_audio_chunk":"AAAA"}`, "asr_transcription_error", ""},
		{`{"user_audio_chunk":"AAAA"}`, "asr_transcription_error", ""},
		{
			`{"type":"conversation_initiation_client_data","conversation_config_override":5}`,
			"value_error",
			"conversation_config_override",
		},
		{
			`{"type":"conversation_initiation_client_data","conversation_config_override":{"agent":{"native_mcp_server_ids":["m"]}}}`,
			"override_error",
			"conversation_config_override.agent.native_mcp_server_ids",
		},
		{`{"type":"conversation_initiation_client_data","dynamic_variables":[]}`, "value_error", "dynamic_variables"},
		{`{"type":"conversation_initiation_client_data","dynamic_variables":{"a":{}}}`, "value_error", "dynamic_variables.a"},
		{
			`{"type":"conversation_initiation_client_data","tool_mock_config":{"mocking_strategy":"all"}}`,
			"value_error",
			"tool_mock_config",
		},
		{
			`{"type":"conversation_initiation_client_data","conversation_config_override":{"agent":{"first_message":null,` +
				`"prompt":{"knowledge_base":[]}}}}`,
			"value_error",
			"conversation_config_override.agent.prompt.knowledge_base",
		},
		{
			`{"type":"conversation_initiation_client_data","conversation_config_override":{"agent":"x"}}`,
			"value_error",
			"conversation_config_override.agent",
		},
		{
			`{"type":"conversation_initiation_client_data","conversation_config_override":{"agent":{"prompt":[]}}}`,
			"value_error",
			"conversation_config_override.agent.prompt",
		},
		{
			`{"type":"conversation_initiation_client_data",` +
				`"conversation_config_override":{"conversation":{"client_events":["audio",5]}}}`,
			"value_error",
			"conversation_config_override.conversation.client_events",
		},
		{`{"type":"conversation_initiation_client_data","dynamic_variable":{"a":"b"}}`, "value_error", "dynamic_variable"},
		{
			`{"type":"conversation_initiation_client_data","conversation_config_overrides":{},"source_info":{"source":"js_sdk"}}`,
			"value_error",
			"conversation_config_overrides",
		},
		{`{"type":"conversation_initiation_client_data","user_id":"other"}`, "value_error", "user_id"},
		{
			`{"type":"conversation_initiation_client_data","custom_llm_extra_body":{"a":1}}`,
			"value_error",
			"custom_llm_extra_body",
		},
	}
	for _, row := range rows {
		d := newDialect(sessions.ChatChannel)
		step := d.Frame([]byte(row.frame))
		events := decoded(t, step)
		if len(events) != 1 || events[0]["type"] != "error" || field(events[0], "error_event", "error_type") != row.errorType {
			t.Errorf("%.80s: %v", row.frame, events)
			continue
		}
		fields, _ := field(events[0], "error_event", "details", "fields").([]any)
		name := ""
		if len(fields) > 0 {
			name, _ = fields[0].(event)["field"].(string)
		}
		if message, _ := field(events[0], "error_event", "message").(string); name != row.field || message == "" {
			t.Errorf("%.80s: field %q of %v, want %q", row.frame, name, events[0], row.field)
		}
		for _, command := range step.Commands {
			if _, ok := command.(live.Greet); !ok {
				t.Errorf("%.80s: the command %T", row.frame, command)
			}
		}
	}
	binary := decoded(t, newDialect(sessions.ChatChannel).BinaryFrame())
	if len(binary) != 1 || field(binary[0], "error_event", "error_type") != "invalid_message" {
		t.Errorf("binary: %v", binary)
	}
}

// TestAudioIsRefusedOnce: the chat socket refuses audio once, for a microphone sends ten chunks a
// second. The voice socket passes it on.
func TestAudioIsRefusedOnce(t *testing.T) {
	t.Parallel()
	d := newDialect(sessions.ChatChannel)
	first := sent(t, d, `{"user_audio_chunk":"AAAA"}`)
	second := sent(t, d, `{"user_audio_chunk":"AAAA"}`)
	if len(first) != 1 || field(first[0], "error_event", "details", "code") != string(fault.SessionModality) || len(second) != 0 {
		t.Errorf("%v, then %v", first, second)
	}
	step := newDialect(sessions.VoiceChannel).Frame([]byte(`{"user_audio_chunk":"AAAA"}`))
	var heard []byte
	for _, command := range step.Commands {
		if piece, is := command.(voice.Append); is {
			heard = piece.Data
		}
	}
	if len(heard) != 3 || len(step.Frames) != 0 {
		t.Errorf("heard %d bytes, and sent %v", len(heard), step.Frames)
	}
}

func TestMCPCallWithApproval(t *testing.T) {
	t.Parallel()
	d := newDialect(sessions.ChatChannel)
	d.Event(turns.ResponseStarted{ResponseID: "resp_1", TurnIndex: 1})
	arguments := json.RawMessage(`{"id":7}`)
	var states []string
	show := func(e turns.Event) event {
		t.Helper()
		events := told(t, d, e)
		if len(events) != 1 || events[0]["type"] != "mcp_tool_call" {
			t.Fatalf("%T: %v", e, events)
		}
		call, _ := field(events[0], "mcp_tool_call").(event)
		state, _ := call["state"].(string)
		states = append(states, state)
		if call["service_id"] != "shop" || call["tool_name"] != "shop__refund" || field(call, "parameters", "id") != 7.0 ||
			call["timestamp"] == "" {
			t.Errorf("%v", call)
		}
		return call
	}
	show(turns.ToolStarted{CallID: "c1", Name: "shop__refund", Arguments: arguments, Kind: tools.KindMCP})
	asked := show(turns.ApprovalRequested{
		CallID:    "c1",
		RequestID: "mcpr_c1",
		Name:      "shop__refund",
		Arguments: arguments,
		Timeout:   60e9,
	})
	if asked["approval_timeout_secs"] != 60.0 {
		t.Errorf("asked %v", asked)
	}
	step := d.Frame([]byte(`{"type":"mcp_tool_approval_result","tool_call_id":"c1","is_approved":true}`))
	want := live.Approve{CommandID: "mcp_tool_approval_result", RequestID: "mcpr_c1", Approved: true}
	if diff := cmp.Diff(live.Command(want), step.Commands[len(step.Commands)-1]); diff != "" {
		t.Errorf("approval: %s", diff)
	}
	show(turns.ToolDone{CallID: "c1", Name: "shop__refund", Arguments: arguments, Output: "done", Kind: tools.KindMCP})
	show(turns.ToolStarted{CallID: "c2", Name: "shop__refund", Arguments: arguments, Kind: tools.KindMCP})
	failed := show(turns.ToolDone{
		CallID:    "c2",
		Name:      "shop__refund",
		Arguments: arguments,
		Output:    "no",
		Failed:    true,
		Kind:      tools.KindMCP,
	})
	if failed["error_message"] != "no" {
		t.Errorf("failed %v", failed)
	}
	if diff := cmp.Diff([]string{"loading", "awaiting_approval", "success", "loading", "failure"}, states); diff != "" {
		t.Errorf("states: %s", diff)
	}
}

// TestToolIsCalled: is_called is true for a call with an unknown outcome, and false for one that
// was refused.
func TestToolIsCalled(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		result         sessions.CallResult
		called, failed bool
	}{
		{sessions.CallResult{Attempts: 1}, true, false},
		{sessions.CallResult{}, true, false}, // a tool of the service
		{sessions.CallResult{ErrorCode: "upstream-failed", Attempts: 3}, true, true},
		{sessions.CallResult{ErrorCode: "unknown"}, true, true},
		{sessions.CallResult{ErrorCode: "unknown-tool"}, false, true},
		{sessions.CallResult{ErrorCode: "tool-arguments-invalid"}, false, true},
	} {
		d := newDialect(sessions.ChatChannel)
		d.Event(turns.ResponseStarted{})
		done := told(t, d, turns.ToolDone{CallID: "c", Name: "book", Kind: tools.KindHTTP, Failed: row.failed, Result: row.result})
		if response := field(done[0], "agent_tool_response"); len(done) != 1 ||
			field(done[0], "agent_tool_response", "is_called") != row.called ||
			field(done[0], "agent_tool_response", "is_error") != row.failed {
			t.Errorf("%+v: %v", row.result, response)
		}
	}
}

// TestFieldNames: an error of the conversation names fields as this protocol does.
func TestFieldNames(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]string{
		"call_id": "tool_call_id", "approval_request_id": "tool_call_id", "output": "result", "text": "text",
	} {
		events := told(t, newDialect(sessions.ChatChannel), live.Failed{
			CommandID: "x", Err: fault.InvalidField(name, "unknown", "Nobody knows it."),
		})
		fields, _ := field(events[0], "error_event", "details", "fields").([]any)
		if message, _ := field(events[0], "error_event", "message").(string); len(fields) != 1 ||
			fields[0].(event)["field"] != shown ||
			message != shown+": Nobody knows it." {
			t.Errorf("%s: %v", name, events)
		}
	}
}

// TestClientEvents: a client gets the events of its client_events, and those that cannot be turned
// off.
func TestClientEvents(t *testing.T) {
	t.Parallel()
	d := newDialect(sessions.ChatChannel)
	d.Frame([]byte(`{"type":"conversation_initiation_client_data","conversation_config_override":{
		"conversation":{"client_events":["agent_response","agent_tool_response_full_payload"]}}}`))
	var kinds []string
	for _, e := range []turns.Event{
		turns.ResponseStarted{},
		turns.ToolStarted{CallID: "c", Name: "x"},
		turns.ToolDone{CallID: "c", Name: "x", Output: "y"},
		turns.MessageStarted{},
		turns.TextDelta{Text: "Hi"},
		turns.ResponseDone{Status: turns.ResponseCompleted, Text: "Hi"},
	} {
		for _, sent := range told(t, d, e) {
			kind, _ := sent["type"].(string)
			kinds = append(kinds, kind)
		}
	}
	if diff := cmp.Diff([]string{"agent_tool_response_full_payload", "agent_response"}, kinds); diff != "" {
		t.Errorf("sent: %s", diff)
	}
}

func TestLastWords(t *testing.T) {
	t.Parallel()
	rows := []struct {
		code      int
		reason    string
		wireCode  any
		errorType any
	}{
		{1000, "end_call", nil, nil},
		{1000, "idle_timeout", nil, nil},
		{1000, "max_duration", 1008.0, "max_duration_exceeded"},
		{1008, "session-closed", 1008.0, "websocket_disconnect"},
		{1009, "frame_too_large", 1011.0, "websocket_disconnect"},
		{1011, "internal_error", 1011.0, "unknown"},
		{1012, "reconnect", 1011.0, "websocket_disconnect"},
		{4409, "replaced", 1011.0, "websocket_disconnect"},
	}
	for _, row := range rows {
		events := decoded(t, newDialect(sessions.ChatChannel).Close(row.code, row.reason))
		if row.wireCode == nil {
			if len(events) != 0 {
				t.Errorf("%d %s: %v", row.code, row.reason, events)
			}
			continue
		}
		if len(events) != 1 || field(events[0], "error_event", "code") != row.wireCode ||
			field(events[0], "error_event", "error_type") != row.errorType {
			t.Errorf("%d %s: %v", row.code, row.reason, events)
		}
	}
}

// TestFrameIDs: the parts of an answer share an event_id, and their frames have ids of their own.
func TestFrameIDs(t *testing.T) {
	t.Parallel()
	d := newDialect(sessions.ChatChannel)
	var ids []string
	for _, e := range []turns.Event{
		live.ItemAdded{Item: sessions.Item{Kind: sessions.UserItem, TurnIndex: 3, Text: "x"}},
		turns.ResponseStarted{TurnIndex: 3},
		turns.MessageStarted{},
		turns.TextDelta{Text: "Hi"},
		turns.ResponseDone{Status: turns.ResponseCancelled, Text: "Hi"},
	} {
		for _, frame := range d.Event(e).Frames {
			ids = append(ids, frame.ID)
		}
	}
	if diff := cmp.Diff([]string{"7.1", "8.1", "8.2", "8.3", "8.4", "8.d5", "8.d6", "8.d7", "8.d8"}, ids); diff != "" {
		t.Errorf("ids: %s", diff)
	}
}

// TestMessageDuringAnswer: a user's message during an answer is sent after the answer's end,
// whatever the end is, on this socket or on the next, and once.
func TestMessageDuringAnswer(t *testing.T) {
	t.Parallel()
	said := sessions.Item{ID: "item_2", Kind: sessions.UserItem, TurnIndex: 1, Text: "Stop."}
	start, stop := "2.2 start", "2.4 stop"
	for name, row := range map[string]struct {
		done     turns.ResponseDone
		returned bool
		want     []string
	}{
		"interrupted": {
			turns.ResponseDone{Status: turns.ResponseCancelled, Text: "Well"},
			false,
			[]string{
				start, "2.3 delta", stop, "2.d5 agent_response", "2.d6 interruption", "2.d7 agent_response_correction",
				"2.d8 agent_typing", "3.1 user_transcript",
			},
		},
		"failed": {
			turns.ResponseDone{Status: turns.ResponseFailed, Text: "Well"},
			false,
			[]string{start, "2.3 delta", stop, "2.d5 agent_response", "2.d6 error", "2.d7 agent_typing", "3.1 user_transcript"},
		},
		"done, on the next socket": {
			turns.ResponseDone{Status: turns.ResponseCompleted, Text: "Well"},
			true,
			[]string{
				start, "2.3 delta", "conversation_initiation_metadata", stop, "2.d5 agent_response", "2.d6 agent_typing",
				"3.1 user_transcript",
			},
		},
	} {
		d := newDialect(sessions.ChatChannel)
		d.Event(turns.ResponseStarted{})
		var got []string
		tell := func(step dialect.Step) {
			for i, e := range decoded(t, step) {
				kind, _ := e["type"].(string)
				if kind == "agent_chat_response_part" {
					kind, _ = field(e, "text_response_part", "type").(string)
				}
				got = append(got, strings.TrimSpace(step.Frames[i].ID+" "+kind))
			}
		}
		tell(d.Event(turns.MessageStarted{}))
		tell(d.Event(live.ItemAdded{Item: said}))
		tell(d.Event(turns.TextDelta{Text: "Well"}))
		if row.returned {
			tell(d.Reopen([]sessions.Item{said}))
			tell(d.Missed("2.3"))
		}
		tell(d.Event(row.done))
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAnswerOfAnotherNode: a client that has not got the end of another node's answer is told it,
// with the text in one event.
func TestAnswerOfAnotherNode(t *testing.T) {
	t.Parallel()
	user := sessions.Item{Kind: sessions.UserItem, TurnID: "turn_3", TurnIndex: 3, Text: "Where?"}
	said := func(text string) sessions.Item {
		return sessions.Item{Kind: sessions.AssistantItem, TurnID: "turn_3", TurnIndex: 3, Text: text}
	}
	cited := event{"source_id": "src_1", "source_name": "Cities", "chunk_id": "chk_1", "similarity": 0.5, "excerpt": "Bern"}
	answer := event{"agent_response": "One moment.\n\nIn Bern.", "event_id": 8.0, "parlance_citations": []any{cited}}
	for name, row := range map[string]struct {
		ended live.AnswerEnded
		said  any
	}{
		"said": {live.AnswerEnded{
			TurnID: "turn_3", Items: []sessions.Item{user, said("One moment."), said("In Bern.")},
			Citations: []sessions.Citation{{SourceID: "src_1", SourceName: "Cities", ChunkID: "chk_1", Similarity: 0.5, Excerpt: "Bern"}},
		}, answer},
		"lost":             {live.AnswerEnded{TurnID: "turn_3", Lost: true}, nil},
		"lost, and erased": {live.AnswerEnded{TurnID: "turn_9", Lost: true}, nil},
	} {
		d := convai.New(dialect.Params{
			Session: sessions.Session{ID: "ses_1"},
			Channel: sessions.ChatChannel,
			History: []sessions.Item{user},
		})
		d.Open()
		events := told(t, d, row.ended)
		if len(events) == 0 || events[0]["type"] != "agent_typing" ||
			field(events[0], "agent_typing_event", "is_typing") != false {
			t.Fatalf("%s: %v", name, events)
		}
		if id := events[0]["parlance_event_id"]; name != "lost, and erased" && id != "8.1" {
			t.Errorf("%s: the end has the id %v", name, id)
		}
		var told any
		if len(events) > 1 {
			told = events[1]["agent_response_event"]
		}
		if diff := cmp.Diff(row.said, told); diff != "" || len(events) > 2 {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
