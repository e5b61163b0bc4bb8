package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice"
)

// configured sends the session's settings. Settings that the agent does not allow are left out
// without an error, for SDKs send more than their users ask for. Invalid ones are errors.
func (d *Dialect) configured(e live.Configured) {
	d.session, d.tools, d.maxTokens = e.Session, e.ClientTools, e.MaxOutputTokens
	for _, refused := range e.Refused {
		switch {
		case refused.Field == live.FieldToolChoice:
			d.audio.toolChoice = json.RawMessage(`"auto"`)
			d.refuse(e.CommandID, invalid("session.tool_choice", refused.Message))
		case refused.Field == turns.FieldTools:
			d.refuse(e.CommandID, invalid("session.tools", refused.Message))
		case refused.Code != string(fault.OverrideNotAllowed):
			d.refuse(e.CommandID, &refusal{
				code: "invalid_type", param: "session." + cmp.Or(settingNames[refused.Field], refused.Field),
				message: "The value of " + refused.Field + " was left out: " + refused.Message,
			})
		}
	}
	d.send(&sessionEvent{head{Type: "session.updated"}, d.effectiveSession()})
}

// settingNames are the session's members for overrides that the conversation names otherwise.
var settingNames = map[string]string{"voice": "audio.output.voice"}

// sendWholeItem sends an item outside a response. For an mcp_call it does not send
// conversation.item.done, which makes the agents SDK send a response.create of its own.
func (d *Dialect) sendWholeItem(item sessions.Item, previous string) {
	shown := wireItem(item)
	d.items.insert(item.ID, previous, shown)
	d.lastWholeItem = item.ID
	d.send(&itemEvent{head{Type: "conversation.item.added"}, optional(previous), shown})
	if item.Kind != sessions.ToolItem {
		d.send(&itemEvent{head{Type: "conversation.item.done"}, optional(previous), shown})
	}
}

// addItem sends an item. What the user has spoken was committed before it became an item.
func (d *Dialect) addItem(e live.ItemAdded) {
	if e.Item.Kind == sessions.UserItem && e.Item.Audio != nil && d.channel == sessions.VoiceChannel {
		d.send(&committedEvent{head{Type: "input_audio_buffer.committed"}, optional(e.PreviousItemID), e.Item.ID})
	}
	d.sendWholeItem(e.Item, e.PreviousItemID)
}

func (d *Dialect) removeItem(e live.ItemRemoved) {
	d.items.remove(e.ItemID)
	if d.lastWholeItem == e.ItemID {
		d.lastWholeItem = d.items.last()
	}
	d.send(&deletedEvent{head{Type: "conversation.item.deleted"}, e.ItemID})
}

func (d *Dialect) truncated(e live.ItemTruncated) {
	if _, known := d.items.byID[e.ItemID]; known {
		d.items.put(e.ItemID, wireItem(sessions.Item{
			ID: e.ItemID, Kind: sessions.AssistantItem, Text: e.Text,
			Audio: &sessions.Audio{Transcribed: true},
		}))
	}
	d.send(&truncatedEvent{head{Type: "conversation.item.truncated"}, e.ItemID, 0, e.AudioEndMS})
}

// refusals are errors of the conversation that the protocol has codes for.
var refusals = []struct {
	cause error
	refusal
}{
	{live.ErrNothingToCancel, refusal{
		code: "response_cancel_not_active", message: "There is no response going out to cancel.",
	}},
	{voice.ErrNoAudio, refusal{
		code: "input_audio_buffer_commit_empty", message: "The audio buffer is too small: at least 100 ms are needed.",
	}},
	{live.ErrNoReference, refusal{
		code: "invalid_value", message: "An item_reference names no item of the conversation.",
		param: "response.input",
	}},
	{live.ErrNoCall, refusal{
		code: "invalid_value", message: "A function_call_output answers no function_call of the input.",
		param: "response.input",
	}},
	{turns.ErrNoTool, refusal{
		code: "invalid_value", message: "tool_choice names a tool that is not offered.",
		param: "response.tool_choice",
	}},
	{live.ErrNoPlace, refusal{
		code: "item_create_invalid_previous_item_id", message: "There is no item with the id that previous_item_id names.",
		param: "previous_item_id",
	}},
	{live.ErrItemTaken, refusal{
		code: "item_create_duplicate_id", message: "There is an item with that id already.",
		param: "item.id",
	}},
	{live.ErrNothingToRetrieve, refusal{
		code: "item_retrieve_invalid_item_id", message: "There is no item with that id.",
		param: "item_id",
	}},
	{live.ErrNothingToRemove, refusal{
		code: "item_delete_invalid_item_id", message: "There is no item with that id.",
		param: "item_id",
	}},
	{live.ErrNothingToTruncate, refusal{
		code: "item_truncate_invalid_item_id", message: "There is no item with that id.",
		param: "item_id",
	}},
}

func (d *Dialect) failed(e live.Failed) {
	if requested, waits := d.requested[e.CommandID]; waits {
		delete(d.requested, e.CommandID)
		e.CommandID = requested.eventID
	}
	if e.Err == nil {
		return
	}
	for _, known := range refusals {
		if errors.Is(e.Err, known.cause) {
			d.refuse(e.CommandID, &known.refusal)
			return
		}
	}
	codes := []string{"not_audio", "range"} // errors of a single value
	if fields := e.Err.Fields; len(fields) > 0 && slices.Contains(codes, fields[0].Code) {
		d.refuse(e.CommandID, invalid(fields[0].Field, fields[0].Message))
		return
	}
	d.fail(e.CommandID, e.Err)
}
