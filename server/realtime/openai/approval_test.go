package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// TestApproval: the agents SDK asks its user when conversation.item.done comes, and answers with
// the item's id. Source: @openai/agents-realtime 0.20.0.
func TestApproval(t *testing.T) {
	t.Parallel()
	d := newDialect(dialect.Params{})
	told(t, d, turns.ResponseStarted{ResponseID: "resp_1"})
	told(t, d, turns.ToolStarted{ResponseID: "resp_1", ItemID: "item_1", CallID: "call_1", Name: "pay"})
	events := told(t, d, turns.ApprovalRequested{
		ResponseID: "resp_1",
		RequestID:  "mcpr_1",
		CallID:     "call_1",
		Name:       "pay",
		Arguments:  json.RawMessage(`{"sum":5}`),
	})
	var order []string
	for _, e := range events {
		order = append(order, field(e, "type").(string))
		want := event{
			"id":           "mcpr_1",
			"object":       "realtime.item",
			"type":         "mcp_approval_request",
			"server_label": "parlance",
			"name":         "pay",
			"arguments":    `{"sum":5}`,
			"approved":     nil,
		}
		if diff := cmp.Diff(want, e["item"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field(e, "type"), diff)
		}
	}
	want := []string{
		"response.output_item.added", "conversation.item.added", "conversation.item.done", "response.output_item.done",
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	refused := sent(t, d, `{"type":"conversation.item.create","item":{"type":"mcp_approval_response","approval_request_id":"mcpr_1"}}`)
	if len(refused) != 1 || field(refused[0], "error", "code") != "missing_required_parameter" {
		t.Errorf("without approve: %v", refused)
	}
}

// TestApprovalAsItem: a request for approval is an item of this socket only, which the conversation
// does not know.
func TestApprovalAsItem(t *testing.T) {
	t.Parallel()
	d := newDialect(dialect.Params{History: []sessions.Item{{ID: "item_0", Kind: sessions.UserItem, Text: "hi"}}})
	d.Event(turns.ResponseStarted{ResponseID: "resp_1"})
	d.Event(turns.ApprovalRequested{
		ResponseID: "resp_1",
		RequestID:  "mcpr_1",
		CallID:     "call_1",
		Name:       "pay",
		Arguments:  json.RawMessage(`{}`),
	})
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
		step := d.Frame(
			[]byte(
				`{"type":"conversation.item.create","previous_item_id":"` + previous + `","item":{"type":"message",` +
					`"role":"user","content":[{"type":"input_text","text":"x"}]}}`,
			),
		)
		return step.Commands[0].(live.UserMessage).After
	}
	if got := place("mcpr_1"); got != "item_0" {
		t.Errorf("behind the request: behind %q", got)
	}
	d.Frame([]byte(`{"type":"conversation.item.truncate","item_id":"mcpr_1","content_index":0,"audio_end_ms":1}`))
	d.Event(live.Failed{Err: fault.Wrap(live.ErrNothingToTruncate, fault.InvalidRequest, "none")})
	if e := one(`{"type":"conversation.item.retrieve","item_id":"mcpr_1"}`); field(e, "item", "type") != "mcp_approval_request" {
		t.Errorf("retrieved %v", e)
	}
	if e := one(`{"type":"conversation.item.delete","item_id":"mcpr_1"}`); e["type"] != "conversation.item.deleted" ||
		e["item_id"] != "mcpr_1" {
		t.Errorf("deleted %v", e)
	}
	if step := d.Frame([]byte(`{"type":"conversation.item.retrieve","item_id":"mcpr_1"}`)); len(step.Commands) != 1 {
		t.Errorf("retrieved after it was deleted: %v", decoded(t, step))
	}
	first := newDialect(dialect.Params{})
	first.Event(turns.ResponseStarted{ResponseID: "resp_1"})
	first.Event(turns.ApprovalRequested{ResponseID: "resp_1", RequestID: "mcpr_1", Name: "pay"})
	if d = first; place("mcpr_1") != sessions.AtFront {
		t.Errorf("the first item is behind %q", place("mcpr_1"))
	}
}
