package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime/openai"
)

type event = map[string]any

func newDialect(p openai.Params) *openai.Dialect {
	p.Session.ID = "ses_1"
	if p.Channel == "" {
		p.Channel = conversation.ChatChannel
	}
	return openai.New(p)
}

func decoded(t testing.TB, step openai.Step) []event {
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
	long, tooLong := strings.Repeat("x", 129), strings.Repeat("ä", conversation.MaxTextChars+1)
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
		{`{"type":"session.update","session":{"tools":[{"type":"function","name":"a b"}]}}`, "invalid_value", "session.tools[0].name"},
		{`{"type":"session.update","session":{"tools":[{"type":"function","name":"a","parameters":3}]}}`, "invalid_value", "session.tools[0].parameters"},
		{`{"type":"session.update","session":{"audio":{"input":{"format":{"type":"mp3"}}}}}`, "invalid_value", "session.audio.input.format.type"},
		{`{"type":"session.update","session":{"audio":{"output":{"format":{"type":"audio/pcm","rate":8000}}}}}`, "invalid_value", "session.audio.output.format.rate"},
		{`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"x"}}}}}`, "invalid_value", "session.audio.input.turn_detection"},
		{`{"type":"conversation.item.create"}`, "missing_required_parameter", "item"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":5}}`, "invalid_type", "item.role"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":"system","content":[]}}`, "missing_required_parameter", "item.content"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":"tool","content":[]}}`, "invalid_value", "item.role"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":"assistant","content":[{"type":"input_text","text":"x"}]}}`, "invalid_value", "item.content"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:"}]}}`, "invalid_value", "item.content"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_audio"}]}}`, "invalid_value", "item.content"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[]}}`, "missing_required_parameter", "item.content"},
		{`{"type":"conversation.item.create","item":{"id":"item_1","type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}}`, "item_create_duplicate_id", "item.id"},
		{`{"type":"conversation.item.create","item":{"id":"` + long + `","type":"message"}}`, "invalid_value", "item.id"},
		{`{"type":"conversation.item.create","item":{"type":"function_call_output","output":"x"}}`, "missing_required_parameter", "item"},
		{`{"type":"conversation.item.create","item":{"type":"function_call"}}`, "missing_required_parameter", "item"},
		{`{"type":"conversation.item.create","item":{"type":"function_call","call_id":"c","name":"n","arguments":"[]"}}`, "invalid_value", "item.arguments"},
		{`{"type":"conversation.item.create","item":{"type":"mcp_call"}}`, "invalid_value", "item.type"},
		{`{"type":"session.update","session":{"tools":[{"type":"function","name":"a"},{"type":"function","name":"a"}]}}`, "invalid_value", "session.tools[1].name"},
		{`{"type":"conversation.item.retrieve"}`, "missing_required_parameter", "item_id"},
		{`{"type":"conversation.item.delete"}`, "missing_required_parameter", "item_id"},
		{`{"type":"conversation.item.truncate"}`, "missing_required_parameter", "item_id"},
		{`{"type":"conversation.item.truncate","item_id":"item_1"}`, "missing_required_parameter", "audio_end_ms"},
		{`{"type":"conversation.item.truncate","item_id":"item_1","audio_end_ms":5,"content_index":1}`, "invalid_value", "content_index"},
		{`{"type":"response.create","response":5}`, "invalid_type", "response"},
		{`{"type":"response.create","response":{"conversation":"other"}}`, "invalid_value", "response.conversation"},
		{`{"type":"response.create","response":{"input":[{}]}}`, "invalid_value", "response.input[0].type"},
		{`{"type":"response.create","response":{"input":[{"type":"item_reference"}]}}`, "invalid_value", "response.input[0].id"},
		{`{"type":"response.create","response":{"max_output_tokens":0}}`, "invalid_value", "response.max_output_tokens"},
		{`{"type":"response.create","response":{"max_output_tokens":"all"}}`, "invalid_value", "response.max_output_tokens"},
		{`{"type":"response.create","response":{"tool_choice":"any"}}`, "invalid_value", "response.tool_choice"},
		{`{"type":"response.create","response":{"tool_choice":{"type":"mcp","server_label":"other","name":"x"}}}`, "invalid_value", "response.tool_choice"},
		{`{"type":"response.create","response":{"tools":[{"type":"function"}]}}`, "invalid_value", "response.tools[0].name"},
		{`{"type":"response.create","response":{"output_modalities":["video"]}}`, "invalid_value", "response.output_modalities"},
		{`{"type":"response.create","response":{"prompt":{"id":"pmpt_1"}}}`, "invalid_value", "response.prompt"},
		{`{"type":"session.update","session":{"output_modalities":[]}}`, "invalid_value", "session.output_modalities"},
		{`{"type":"session.update","session":{"max_output_tokens":-1}}`, "invalid_value", "session.max_output_tokens"},
		{`{"type":"session.update","session":{"tool_choice":5}}`, "invalid_value", "session.tool_choice"},
		{`{"type":"session.update","session":{"tracing":"never"}}`, "invalid_value", "session.tracing"},
		{`{"type":"session.update","session":{"audio":{"output":{"speed":9}}}}`, "invalid_value", "session.audio.output.speed"},
		{`{"type":"session.update","session":{"audio":{"input":{"noise_reduction":{"type":"x"}}}}}`, "invalid_value", "session.audio.input.noise_reduction"},
		{`{"type":"session.update","session":{"audio":{"input":{"transcription":"whisper"}}}}`, "invalid_value", "session.audio.input.transcription"},
		{`{"type":"response.create","response":{"metadata":{"a":1}}}`, "invalid_type", "response.metadata.a"},
		{`{"type":"response.create","response":{"metadata":{"a":null}}}`, "invalid_type", "response.metadata.a"},
		{`{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"type":"server_vad","threshold":"high"}}}}}`, "invalid_type", "session.audio.input.turn_detection.threshold"},
		{`{"type":"session.update","session":{"audio":{"input":{"transcription":{"language":5}}}}}`, "invalid_type", "session.audio.input.transcription.language"},
		{`{"type":"session.update","session":{"tracing":{"group_id":5}}}`, "invalid_type", "session.tracing.group_id"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + tooLong + `"}]}}`, "invalid_value", "item.content[0].text"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":"system","content":[{"type":"input_text","text":"a\u0000b"}]}}`, "invalid_value", "item.content[0].text"},
		{`{"type":"response.create","response":{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"\u0000b"}]}]}}`, "invalid_value", "response.input[0].content[0].text"},
		{`{"type":"input_audio_buffer.commit"}`, "input_audio_buffer_commit_empty", ""},
	}
	for _, row := range rows {
		d := newDialect(openai.Params{History: []conversation.Item{{ID: "item_1", Kind: conversation.UserItem, Text: "hi"}}})
		d.Open()
		step := d.Frame([]byte(row.frame))
		events := decoded(t, step)
		if len(events) != 1 || len(step.Commands) != 0 || events[0]["type"] != "error" {
			t.Errorf("%s: got %v and %v, want one error", row.frame, events, step.Commands)
			continue
		}
		param, _ := field(events[0], "error", "param").(string)
		if field(events[0], "error", "code") != row.code || (param != row.param && !strings.HasPrefix(row.param, "response.metadata")) {
			t.Errorf("%s: got %v, want %s at %q", row.frame, events[0]["error"], row.code, row.param)
		}
		if field(events[0], "error", "type") != "invalid_request_error" || field(events[0], "error", "message") == "" {
			t.Errorf("%s: %v", row.frame, events[0])
		}
	}
}

func TestBinaryFrame(t *testing.T) {
	t.Parallel()
	d := newDialect(openai.Params{})
	events := decoded(t, d.BinaryFrame())
	if len(events) != 1 || field(events[0], "error", "code") != "invalid_event" {
		t.Errorf("got %v", events)
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	instructions := "Short."
	rows := []struct {
		frame string
		want  conversation.Command
	}{
		{
			`{"type":"conversation.item.create","event_id":"e","previous_item_id":"root","item":{"id":"i","type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}}`,
			conversation.UserMessage{CommandID: "e", ItemID: "i", After: "root", Text: "a\nb"},
		},
		{
			`{"type":"conversation.item.create","previous_item_id":"p","item":{"type":"message","role":"system","content":[{"type":"input_text","text":"a"}]}}`,
			conversation.Insert{After: "p", Kind: conversation.SystemItem, Text: "a"},
		},
		{
			`{"type":"conversation.item.create","item":{"type":"function_call","call_id":"c","name":"n","arguments":"{\"a\":1}"}}`,
			conversation.Insert{Kind: conversation.ClientToolCallItem, CallID: "c", Name: "n", Arguments: json.RawMessage(`{"a":1}`)},
		},
		{`{"type":"conversation.item.delete","event_id":"e","item_id":"i"}`, conversation.Remove{CommandID: "e", ItemID: "i"}},
		{`{"type":"conversation.item.truncate","item_id":"i","content_index":0,"audio_end_ms":5}`, conversation.Truncate{ItemID: "i", AudioEndMS: 5}},
		{`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"c","output":""}}`, conversation.ToolOutput{CallID: "c"}},
		{
			`{"type":"conversation.item.create","event_id":"e","item":{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":false,"reason":"no"}}`,
			conversation.Approve{CommandID: "e", RequestID: "mcpr_1", Reason: "no"},
		},
		{`{"type":"conversation.item.create","item":{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}}`, conversation.Approve{RequestID: "mcpr_1", Approved: true}},
		{`{"type":"response.create","event_id":"e"}`, conversation.Respond{CommandID: "e"}},
		{`{"type":"response.create","response":{"instructions":"Short.","output_modalities":["text"],"tools":[]}}`, conversation.Respond{Instructions: &instructions, ClientTools: []model.Tool{}}},
		{
			`{"type":"response.create","event_id":"e","response":{"conversation":"none","input":[{"type":"item_reference","id":"i"},{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}],` +
				`"tool_choice":{"type":"function","name":"look"},"max_output_tokens":7}}`,
			conversation.Respond{OutOfBand: true, ToolChoice: "look", MaxOutputTokens: 7, Input: []conversation.InputItem{
				{Reference: "i"}, {Item: conversation.Item{Kind: conversation.UserItem, Text: "a"}},
			}},
		},
		{
			`{"type":"response.create","response":{"input":[],"max_output_tokens":"inf","tool_choice":"none"}}`,
			conversation.Respond{Input: []conversation.InputItem{}, MaxOutputTokens: conversation.UnlimitedTokens, ToolChoice: conversation.ToolsNone},
		},
		{`{"type":"response.cancel","response_id":"r"}`, conversation.Cancel{ResponseID: "r"}},
		{
			`{"type":"session.update","session":{"instructions":null,"tools":null,"audio":{"output":{"voice":"alloy"}}}}`,
			conversation.Configure{Overrides: map[string]json.RawMessage{
				"instructions": json.RawMessage(`""`), "voice": json.RawMessage(`{"tts":{"model":"m","voice":"alloy"}}`),
			}, ClientTools: nil},
		},
	}
	for _, row := range rows {
		d := newDialect(openai.Params{Session: conversation.Session{Config: agents.Config{
			ClientOverrides: []string{"instructions"}, Voice: agents.Voice{TTS: json.RawMessage(`{"model":"m","voice":"v"}`)},
		}}})
		step := d.Frame([]byte(row.frame))
		if respond, ok := step.Commands[0].(conversation.Respond); ok && strings.HasPrefix(respond.CommandID, "req_") {
			respond.CommandID = "" // made to find what the response shows
			step.Commands[0] = respond
		}
		if len(step.Frames) != 0 {
			t.Errorf("%s: frames %s", row.frame, step.Frames)
		}
		want := row.want
		if configure, ok := want.(conversation.Configure); ok {
			got, _ := step.Commands[0].(conversation.Configure)
			if got.ClientTools == nil || len(got.ClientTools) != 0 {
				t.Errorf("null must clear the tools: %#v", got.ClientTools)
			}
			got.ClientTools = nil
			step.Commands[0], want = got, configure
		}
		if diff := cmp.Diff([]conversation.Command{want}, step.Commands); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.frame, diff)
		}
	}
}

// TestReplay shows only what lies behind the item that the client's last event names.
func TestReplay(t *testing.T) {
	t.Parallel()
	history := []conversation.Item{
		{ID: "a.1", Kind: conversation.UserItem, Text: "one"},
		{ID: "b", Kind: conversation.ToolItem, Name: "t", Arguments: json.RawMessage(`{}`), Text: "out"},
		{ID: "c", Kind: conversation.AssistantItem, Text: "two"},
	}
	rows := []struct {
		last string
		want []string
	}{
		{"evt_1.c", nil},
		{"evt_1.a.1", []string{"conversation.item.added b", "conversation.item.added c", "conversation.item.done c"}},
		{"evt_1", []string{"conversation.item.added a.1", "conversation.item.done a.1", "conversation.item.added b", "conversation.item.added c", "conversation.item.done c"}},
	}
	for _, row := range rows {
		d := newDialect(openai.Params{History: history})
		opened := decoded(t, d.Open())
		var got []string
		for _, e := range decoded(t, d.Missed(row.last)) {
			got = append(got, e["type"].(string)+" "+field(e, "item", "id").(string))
		}
		if diff := cmp.Diff(row.want, got); diff != "" || len(opened) != 1 || opened[0]["type"] != "session.created" {
			t.Errorf("%s (-want +got):\n%s", row.last, diff)
		}
	}
}

func TestFailedCommands(t *testing.T) {
	t.Parallel()
	rows := []struct {
		err  *fault.Error
		kind string
		code string
	}{
		{fault.InvalidField("text", "length", "too long"), "invalid_request_error", "invalid-request"},
		{fault.New(fault.InternalError, "Internal error."), "server_error", "internal"},
		{fault.Wrap(conversation.ErrNoPlace, fault.InvalidRequest, "x"), "invalid_request_error", "item_create_invalid_previous_item_id"},
		{fault.Wrap(conversation.ErrItemTaken, fault.InvalidRequest, "x"), "invalid_request_error", "item_create_duplicate_id"},
		{fault.Wrap(conversation.ErrNothingToRetrieve, fault.InvalidRequest, "x"), "invalid_request_error", "item_retrieve_invalid_item_id"},
		{fault.Wrap(conversation.ErrNothingToRemove, fault.InvalidRequest, "x"), "invalid_request_error", "item_delete_invalid_item_id"},
		{fault.Wrap(conversation.ErrNothingToTruncate, fault.InvalidRequest, "x"), "invalid_request_error", "item_truncate_invalid_item_id"},
		{fault.Wrap(conversation.ErrNothingToCancel, fault.InvalidRequest, "x"), "invalid_request_error", "response_cancel_not_active"},
	}
	for _, row := range rows {
		d := newDialect(openai.Params{})
		events := decoded(t, d.Event(conversation.Failed{CommandID: "mine", Err: row.err}))
		if len(events) != 1 || field(events[0], "error", "type") != row.kind || field(events[0], "error", "code") != row.code || field(events[0], "error", "event_id") != "mine" {
			t.Errorf("%v: got %v", row.err, events)
		}
	}
}

// TestMetadata comes back in the response it was asked for with, and in no other.
func TestMetadata(t *testing.T) {
	t.Parallel()
	d := newDialect(openai.Params{})
	step := d.Frame([]byte(`{"type":"response.create","response":{"metadata":{"turn":"1"}}}`))
	asked, ok := step.Commands[0].(conversation.Respond)
	if !ok || asked.CommandID == "" {
		t.Fatalf("got %v", step.Commands)
	}
	created := decoded(t, d.Event(conversation.ResponseStarted{ResponseID: "resp_0", Greeting: true}))
	if field(created[0], "response", "metadata") != nil {
		t.Errorf("the greeting has it: %v", created)
	}
	d.Event(conversation.ResponseDone{ResponseID: "resp_0", Status: conversation.ResponseCompleted})
	d.Event(conversation.ResponseStarted{ResponseID: "resp_1", CommandID: asked.CommandID})
	done := decoded(t, d.Event(conversation.ResponseDone{ResponseID: "resp_1", Status: conversation.ResponseCompleted}))
	if field(done[0], "response", "metadata", "turn") != "1" {
		t.Errorf("got %v", done)
	}
}

// FuzzFrame holds that no frame breaks the dialect: each is answered with events that are valid
// JSON with a type and an id, or becomes a command.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"type":"session.update","session":{"type":"realtime","tools":[{"type":"function","name":"a","parameters":{"type":"object"}}],"audio":{"input":{"turn_detection":{"type":"server_vad"}}}}}`,
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`,
		`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"c","output":"x"}}`,
		`{"type":"conversation.item.retrieve","item_id":"item_1"}`,
		`{"type":"response.create","response":{"instructions":"x","metadata":{"a":"b"}}}`,
		// As openai 7.55.0 and @openai/agents-realtime 0.20.0 were seen to send them. Source:
		// realtime.md 1.2.
		`{"type":"session.update","session":{"type":"realtime","instructions":"Be brief.","model":"gpt-realtime-2.1","output_modalities":["audio"],"audio":{"input":{"format":{"type":"audio/pcm","rate":24000},` +
			`"noise_reduction":null,"transcription":{"model":"gpt-4o-mini-transcribe"},"turn_detection":{"type":"semantic_vad"}},"output":{"format":{"type":"audio/pcm","rate":24000},"voice":"alloy","speed":1}},` +
			`"tools":[{"type":"function","name":"look","description":"Looks.","parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false}}]}}`,
		`{"type":"session.update","session":{"type":"realtime","tracing":"auto"}}`,
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}`,
		`{"type":"response.create","event_id":"agents_js_response_create_1"}`,
		`{"type":"conversation.item.truncate","item_id":"item_1","content_index":0,"audio_end_ms":480}`,
		`{"type":"conversation.item.delete","item_id":"item_1","event_id":"e1"}`,
		`{"type":"conversation.item.create","previous_item_id":"root","item":{"type":"message","role":"system","content":[{"type":"input_text","text":"The user is in Oslo."}]}}`,
		`{"type":"conversation.item.create","previous_item_id":"item_1","item":{"type":"function_call","call_id":"c","name":"look","arguments":"{}"}}`,
		`{"type":"response.create","response":{"conversation":"none","metadata":{"topic":"classification"},"output_modalities":["text"],"instructions":"Classify.","input":[{"type":"item_reference","id":"item_1"},` +
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}],"tool_choice":{"type":"function","name":"look"},"max_output_tokens":"inf"}}`,
		`{"type":"response.cancel"}`, `{"type":"input_audio_buffer.append","audio":"AAAA"}`, `{"type":"\ud800"}`, `{`, `null`, `[[[[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDialect(openai.Params{History: []conversation.Item{{ID: "item_1", Kind: conversation.UserItem}}})
		d.Open()
		step := d.Frame(data)
		events := decoded(t, step)
		if len(events)+len(step.Commands) == 0 {
			t.Errorf("%q came to nothing", data)
		}
		for _, command := range step.Commands {
			switch c := command.(type) {
			case conversation.Configure:
				events = append(events, decoded(t, d.Event(conversation.Configured{ClientTools: c.ClientTools}))...)
			case conversation.Insert:
				one := conversation.Item{ID: c.ItemID, Kind: c.Kind, Text: c.Text, CallID: c.CallID, Name: c.Name, Arguments: c.Arguments}
				events = append(events, decoded(t, d.Event(conversation.ItemAdded{Item: one, PreviousItemID: c.After}))...)
			case conversation.Respond:
				events = append(events, decoded(t, d.Event(conversation.ResponseStarted{ResponseID: "resp_1", CommandID: c.CommandID, OutOfBand: c.OutOfBand}))...)
				events = append(events, decoded(t, d.Event(conversation.ResponseDone{ResponseID: "resp_1", Status: conversation.ResponseCompleted}))...)
			case conversation.Remove:
				events = append(events, decoded(t, d.Event(conversation.ItemRemoved{ItemID: c.ItemID}))...)
			case conversation.Truncate:
				events = append(events, decoded(t, d.Event(conversation.ItemTruncated{ItemID: c.ItemID, AudioEndMS: c.AudioEndMS}))...)
			case conversation.UserMessage:
				events = append(events, decoded(t, d.Event(conversation.ItemAdded{Item: conversation.Item{ID: c.ItemID, Kind: conversation.UserItem, Text: c.Text}}))...)
			}
		}
		for _, e := range events {
			if id, _ := e["event_id"].(string); e["type"] == "" || !strings.HasPrefix(id, "evt_") {
				t.Errorf("%q: %v", data, e)
			}
		}
	})
}

// TestApproval: the agents SDK asks its user when conversation.item.done comes, and answers with
// the item's id. Source: @openai/agents-realtime 0.20.0.
func TestApproval(t *testing.T) {
	t.Parallel()
	d := newDialect(openai.Params{})
	decoded(t, d.Event(conversation.ResponseStarted{ResponseID: "resp_1"}))
	decoded(t, d.Event(conversation.ToolStarted{ResponseID: "resp_1", ItemID: "item_1", CallID: "call_1", Name: "pay"}))
	events := decoded(t, d.Event(conversation.ApprovalRequested{ResponseID: "resp_1", RequestID: "mcpr_1", CallID: "call_1", Name: "pay", Arguments: json.RawMessage(`{"sum":5}`)}))
	var order []string
	for _, e := range events {
		order = append(order, field(e, "type").(string))
		want := event{"id": "mcpr_1", "object": "realtime.item", "type": "mcp_approval_request", "server_label": "parlance", "name": "pay", "arguments": `{"sum":5}`, "approved": nil}
		if diff := cmp.Diff(want, e["item"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field(e, "type"), diff)
		}
	}
	if diff := cmp.Diff([]string{"response.output_item.added", "conversation.item.added", "conversation.item.done", "response.output_item.done"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	refused := decoded(t, d.Frame([]byte(`{"type":"conversation.item.create","item":{"type":"mcp_approval_response","approval_request_id":"mcpr_1"}}`)))
	if len(refused) != 1 || field(refused[0], "error", "code") != "missing_required_parameter" {
		t.Errorf("without a word: %v", refused)
	}
}

// TestApprovalAsItem: the question is an item of this socket's only, which the core does not know.
func TestApprovalAsItem(t *testing.T) {
	t.Parallel()
	d := newDialect(openai.Params{History: []conversation.Item{{ID: "item_0", Kind: conversation.UserItem, Text: "hi"}}})
	d.Event(conversation.ResponseStarted{ResponseID: "resp_1"})
	d.Event(conversation.ApprovalRequested{ResponseID: "resp_1", RequestID: "mcpr_1", CallID: "call_1", Name: "pay", Arguments: json.RawMessage(`{}`)})
	one := func(frame string) event {
		t.Helper()
		step := d.Frame([]byte(frame))
		events := decoded(t, step)
		if len(events) != 1 || len(step.Commands) != 0 {
			t.Fatalf("%s: %v and %v", frame, events, step.Commands)
		}
		return events[0]
	}
	place := func(previous string) string {
		t.Helper()
		step := d.Frame([]byte(`{"type":"conversation.item.create","previous_item_id":"` + previous + `","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}}`))
		return step.Commands[0].(conversation.UserMessage).After
	}
	if got := place("mcpr_1"); got != "item_0" {
		t.Errorf("behind the question: behind %q", got)
	}
	d.Frame([]byte(`{"type":"conversation.item.truncate","item_id":"mcpr_1","content_index":0,"audio_end_ms":1}`))
	d.Event(conversation.Failed{Err: fault.Wrap(conversation.ErrNothingToTruncate, fault.InvalidRequest, "none")})
	if e := one(`{"type":"conversation.item.retrieve","item_id":"mcpr_1"}`); field(e, "item", "type") != "mcp_approval_request" {
		t.Errorf("retrieved %v", e)
	}
	if e := one(`{"type":"conversation.item.delete","item_id":"mcpr_1"}`); e["type"] != "conversation.item.deleted" || e["item_id"] != "mcpr_1" {
		t.Errorf("deleted %v", e)
	}
	if step := d.Frame([]byte(`{"type":"conversation.item.retrieve","item_id":"mcpr_1"}`)); len(step.Commands) != 1 {
		t.Errorf("retrieved when it is deleted: %v", decoded(t, step))
	}
	first := newDialect(openai.Params{})
	first.Event(conversation.ResponseStarted{ResponseID: "resp_1"})
	first.Event(conversation.ApprovalRequested{ResponseID: "resp_1", RequestID: "mcpr_1", Name: "pay"})
	if d = first; place("mcpr_1") != conversation.AtFront {
		t.Errorf("the first item is behind %q", place("mcpr_1"))
	}
}

// TestSameEventID: what two wishes asked for is told apart although the client gave both one id,
// which errors name.
func TestSameEventID(t *testing.T) {
	t.Parallel()
	d := newDialect(openai.Params{})
	var wishes []conversation.Respond
	for _, turn := range []string{`{"metadata":{"n":"1"}}`, `{"conversation":"none","metadata":{"n":"2"}}`, `{"conversation":"none"}`, `{"metadata":{"n":"4"}}`} {
		step := d.Frame([]byte(`{"type":"response.create","event_id":"same","response":` + turn + `}`))
		wishes = append(wishes, step.Commands[0].(conversation.Respond))
	}
	for i, want := range []any{"1", "2", nil} {
		at := []int{0, 1, 2}[i]
		created := decoded(t, d.Event(conversation.ResponseStarted{ResponseID: "resp_" + string(rune('1'+at)), CommandID: wishes[at].CommandID, OutOfBand: wishes[at].OutOfBand}))
		if got := field(created[0], "response", "metadata", "n"); got != want {
			t.Errorf("%d: metadata %v, want %v", at, got, want)
		}
	}
	failed := decoded(t, d.Event(conversation.Failed{CommandID: wishes[3].CommandID, Err: fault.New(fault.RateLimitedReason, "Too many.")}))
	if field(failed[0], "error", "event_id") != "same" {
		t.Errorf("%v", failed)
	}
}

// TestOutputCleared: openai's schema wants the response whose audio it is.
func TestOutputCleared(t *testing.T) {
	t.Parallel()
	d := newDialect(openai.Params{})
	cleared := func() any {
		t.Helper()
		return decoded(t, d.Frame([]byte(`{"type":"output_audio_buffer.clear"}`)))[0]["response_id"]
	}
	if got := cleared(); got != "" {
		t.Errorf("before the first response: %v", got)
	}
	d.Event(conversation.ResponseStarted{ResponseID: "resp_1"})
	d.Event(conversation.ResponseStarted{ResponseID: "resp_2", OutOfBand: true})
	if got := cleared(); got != "resp_1" {
		t.Errorf("in a response: %v", got)
	}
	d.Event(conversation.ResponseDone{ResponseID: "resp_1", Status: conversation.ResponseCompleted})
	if got := cleared(); got != "resp_1" {
		t.Errorf("behind it: %v", got)
	}
}
