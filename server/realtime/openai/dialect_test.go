package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/server/realtime/openai"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

type event = map[string]any

func newDialect(p dialect.Params) *openai.Dialect {
	p.Session.ID = "ses_1"
	if p.Channel == "" {
		p.Channel = sessions.ChatChannel
	}
	return openai.New(p)
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
func told(t testing.TB, d *openai.Dialect, e turns.Event) []event {
	t.Helper()
	return decoded(t, d.Event(e))
}

func sent(t testing.TB, d *openai.Dialect, frame string) []event {
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

func TestCommands(t *testing.T) {
	t.Parallel()
	instructions := "Short."
	rows := []struct {
		frame string
		want  live.Command
	}{
		{
			`{"type":"conversation.item.create","event_id":"e","previous_item_id":"root","item":{"id":"i","type":"message",` +
				`"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}}`,
			live.UserMessage{CommandID: "e", ItemID: "i", After: "root", Text: "a\nb"},
		},
		{
			`{"type":"conversation.item.create","previous_item_id":"p","item":{"type":"message","role":"system",` +
				`"content":[{"type":"input_text","text":"a"}]}}`,
			live.Insert{After: "p", Kind: sessions.SystemItem, Text: "a"},
		},
		{
			`{"type":"conversation.item.create","item":{"type":"function_call","call_id":"c","name":"n","arguments":"{\"a\":1}"}}`,
			live.Insert{
				Kind:      sessions.ClientToolCallItem,
				CallID:    "c",
				Name:      "n",
				Arguments: json.RawMessage(`{"a":1}`),
			},
		},
		{`{"type":"conversation.item.delete","event_id":"e","item_id":"i"}`, live.Remove{CommandID: "e", ItemID: "i"}},
		{
			`{"type":"conversation.item.truncate","item_id":"i","content_index":0,"audio_end_ms":5}`,
			live.Truncate{ItemID: "i", AudioEndMS: 5},
		},
		{
			`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"c","output":""}}`,
			live.ToolOutput{CallID: "c"},
		},
		{
			`{"type":"conversation.item.create","event_id":"e","item":{"type":"mcp_approval_response",` +
				`"approval_request_id":"mcpr_1","approve":false,"reason":"no"}}`,
			live.Approve{CommandID: "e", RequestID: "mcpr_1", Reason: "no"},
		},
		{
			`{"type":"conversation.item.create","item":{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}}`,
			live.Approve{RequestID: "mcpr_1", Approved: true},
		},
		{`{"type":"response.create","event_id":"e"}`, live.Respond{CommandID: "e"}},
		{
			`{"type":"response.create","response":{"instructions":"Short.","output_modalities":["text"],"tools":[]}}`,
			live.Respond{Instructions: &instructions, ClientTools: []model.Tool{}},
		},
		{
			`{"type":"response.create","event_id":"e","response":{"conversation":"none","input":[{"type":"item_reference",` +
				`"id":"i"},{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}],` +
				`"tool_choice":{"type":"function","name":"look"},"max_output_tokens":7}}`,
			live.Respond{OutOfBand: true, ToolChoice: "look", MaxOutputTokens: 7, Input: []live.InputItem{
				{Reference: "i"}, {Item: sessions.Item{Kind: sessions.UserItem, Text: "a"}},
			}},
		},
		{
			`{"type":"response.create","response":{"input":[],"max_output_tokens":"inf","tool_choice":"none"}}`,
			live.Respond{
				Input:           []live.InputItem{},
				MaxOutputTokens: turns.UnlimitedTokens,
				ToolChoice:      turns.ToolsNone,
			},
		},
		{`{"type":"response.cancel","response_id":"r"}`, live.Cancel{ResponseID: "r"}},
		{
			`{"type":"session.update","session":{"instructions":null,"tools":null,"audio":{"output":{"voice":"alloy"}}}}`,
			live.Configure{Overrides: map[string]json.RawMessage{
				"instructions": json.RawMessage(`""`), "voice": json.RawMessage(`{"tts":{"model":"m","voice":"alloy"}}`),
			}, ClientTools: nil},
		},
	}
	for _, row := range rows {
		d := newDialect(dialect.Params{Session: sessions.Session{Config: agents.Config{
			ClientOverrides: []string{"instructions"}, Voice: agents.Voice{TTS: json.RawMessage(`{"model":"m","voice":"v"}`)},
		}}})
		step := d.Frame([]byte(row.frame))
		if respond, ok := step.Commands[0].(live.Respond); ok && strings.HasPrefix(respond.CommandID, "req_") {
			respond.CommandID = "" // an id of the dialect's own
			step.Commands[0] = respond
		}
		if len(step.Frames) != 0 {
			t.Errorf("%s: frames %s", row.frame, step.Frames)
		}
		want := row.want
		if configure, ok := want.(live.Configure); ok {
			got, _ := step.Commands[0].(live.Configure)
			if got.ClientTools == nil || len(got.ClientTools) != 0 {
				t.Errorf("null must clear the tools: %#v", got.ClientTools)
			}
			got.ClientTools = nil
			step.Commands[0], want = got, configure
		}
		if diff := cmp.Diff([]live.Command{want}, step.Commands); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.frame, diff)
		}
	}
}

// TestMissed sends only the items behind the one that the client's last event names.
func TestMissed(t *testing.T) {
	t.Parallel()
	history := []sessions.Item{
		{ID: "a.1", Kind: sessions.UserItem, Text: "one"},
		{ID: "b", Kind: sessions.ToolItem, Name: "t", Arguments: json.RawMessage(`{}`), Text: "out"},
		{ID: "c", Kind: sessions.AssistantItem, Text: "two"},
	}
	rows := []struct {
		last string
		want []string
	}{
		{"evt_1.c", nil},
		{"evt_1.a.1", []string{"conversation.item.added b", "conversation.item.added c", "conversation.item.done c"}},
		{
			"evt_1",
			[]string{
				"conversation.item.added a.1",
				"conversation.item.done a.1",
				"conversation.item.added b",
				"conversation.item.added c",
				"conversation.item.done c",
			},
		},
	}
	for _, row := range rows {
		d := newDialect(dialect.Params{History: history})
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
		{
			fault.Wrap(live.ErrNoPlace, fault.InvalidRequest, "x"),
			"invalid_request_error",
			"item_create_invalid_previous_item_id",
		},
		{fault.Wrap(live.ErrItemTaken, fault.InvalidRequest, "x"), "invalid_request_error", "item_create_duplicate_id"},
		{
			fault.Wrap(live.ErrNothingToRetrieve, fault.InvalidRequest, "x"),
			"invalid_request_error",
			"item_retrieve_invalid_item_id",
		},
		{
			fault.Wrap(live.ErrNothingToRemove, fault.InvalidRequest, "x"),
			"invalid_request_error",
			"item_delete_invalid_item_id",
		},
		{
			fault.Wrap(live.ErrNothingToTruncate, fault.InvalidRequest, "x"),
			"invalid_request_error",
			"item_truncate_invalid_item_id",
		},
		{
			fault.Wrap(live.ErrNothingToCancel, fault.InvalidRequest, "x"),
			"invalid_request_error",
			"response_cancel_not_active",
		},
	}
	for _, row := range rows {
		d := newDialect(dialect.Params{})
		events := told(t, d, live.Failed{CommandID: "mine", Err: row.err})
		if len(events) != 1 || field(events[0], "error", "type") != row.kind || field(events[0], "error", "code") != row.code ||
			field(events[0], "error", "event_id") != "mine" {
			t.Errorf("%v: got %v", row.err, events)
		}
	}
}

// TestMetadata: metadata is in the response that it was requested with, and in no other.
func TestMetadata(t *testing.T) {
	t.Parallel()
	d := newDialect(dialect.Params{})
	step := d.Frame([]byte(`{"type":"response.create","response":{"metadata":{"turn":"1"}}}`))
	asked, ok := step.Commands[0].(live.Respond)
	if !ok || asked.CommandID == "" {
		t.Fatalf("got %v", step.Commands)
	}
	created := told(t, d, turns.ResponseStarted{ResponseID: "resp_0", Greeting: true})
	if field(created[0], "response", "metadata") != nil {
		t.Errorf("the greeting has metadata: %v", created)
	}
	d.Event(turns.ResponseDone{ResponseID: "resp_0", Status: turns.ResponseCompleted})
	d.Event(turns.ResponseStarted{ResponseID: "resp_1", CommandID: asked.CommandID})
	done := told(t, d, turns.ResponseDone{ResponseID: "resp_1", Status: turns.ResponseCompleted})
	if field(done[0], "response", "metadata", "turn") != "1" {
		t.Errorf("got %v", done)
	}
}

// TestSameEventID: two requests with the same id get their own metadata, and errors repeat the id.
func TestSameEventID(t *testing.T) {
	t.Parallel()
	d := newDialect(dialect.Params{})
	var requested []live.Respond
	for _, turn := range []string{
		`{"metadata":{"n":"1"}}`, `{"conversation":"none","metadata":{"n":"2"}}`, `{"conversation":"none"}`,
		`{"metadata":{"n":"4"}}`,
	} {
		step := d.Frame([]byte(`{"type":"response.create","event_id":"same","response":` + turn + `}`))
		requested = append(requested, step.Commands[0].(live.Respond))
	}
	for i, want := range []any{"1", "2", nil} {
		at := []int{0, 1, 2}[i]
		created := told(t, d, turns.ResponseStarted{
			ResponseID: "resp_" + string(rune('1'+at)),
			CommandID:  requested[at].CommandID,
			OutOfBand:  requested[at].OutOfBand,
		})
		if got := field(created[0], "response", "metadata", "n"); got != want {
			t.Errorf("%d: metadata %v, want %v", at, got, want)
		}
	}
	failed := told(t, d, live.Failed{CommandID: requested[3].CommandID, Err: fault.New(fault.RateLimitedReason, "Too many.")})
	if field(failed[0], "error", "event_id") != "same" {
		t.Errorf("%v", failed)
	}
}

// TestOutputCleared: openai's schema requires the response of the audio.
func TestOutputCleared(t *testing.T) {
	t.Parallel()
	d := newDialect(dialect.Params{})
	cleared := func() any {
		t.Helper()
		return sent(t, d, `{"type":"output_audio_buffer.clear"}`)[0]["response_id"]
	}
	if got := cleared(); got != "" {
		t.Errorf("before the first response: %v", got)
	}
	d.Event(turns.ResponseStarted{ResponseID: "resp_1"})
	d.Event(turns.ResponseStarted{ResponseID: "resp_2", OutOfBand: true})
	if got := cleared(); got != "resp_1" {
		t.Errorf("in a response: %v", got)
	}
	d.Event(turns.ResponseDone{ResponseID: "resp_1", Status: turns.ResponseCompleted})
	if got := cleared(); got != "resp_1" {
		t.Errorf("after the response: %v", got)
	}
}
