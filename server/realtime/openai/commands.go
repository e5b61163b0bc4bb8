package openai

import (
	"encoding/json"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
)

// maxIDBytes bounds an id a client chooses; SDKs' are about 30.
const maxIDBytes = 128

func (d *Dialect) updateSession(f frame) {
	if !isObject(f.Session) {
		d.refuse(f.EventID, &refusal{code: "missing_required_parameter", message: "session.update needs an object session.", param: "session"})
		return
	}
	audio, command, refused := d.configure(f.Session)
	if refused != nil {
		d.refuse(f.EventID, refused)
		return
	}
	for _, one := range leftOut(f.Session) {
		d.refuse(f.EventID, one)
	}
	d.audio, command.CommandID = audio, f.EventID
	d.do(command)
}

func (d *Dialect) createItem(f frame) {
	var item newItem
	if f.item != nil {
		item = *f.item
	} else if refused := decode(f.Item, "item", &item); refused != nil {
		d.refuse(f.EventID, refused)
		return
	}
	if refused := d.checkItemID(item.ID); refused != nil {
		d.refuse(f.EventID, refused)
		return
	}
	if item.Type == "mcp_approval_response" {
		d.approve(f.EventID, item)
		return
	}
	one, refused := readItem(item, "item")
	if refused != nil {
		d.refuse(f.EventID, refused)
		return
	}
	after := d.items.anchor(f.PreviousItemID)
	switch one.Kind {
	case sessions.UserItem:
		d.do(live.UserMessage{CommandID: f.EventID, ItemID: one.ID, After: after, Text: one.Text})
	case sessions.ToolOutputItem:
		d.do(live.ToolOutput{CommandID: f.EventID, ItemID: one.ID, After: after, CallID: one.CallID, Output: one.Text})
	default:
		d.do(live.Insert{
			CommandID: f.EventID, ItemID: one.ID, After: after, Kind: one.Kind,
			Text: one.Text, CallID: one.CallID, Name: one.Name, Arguments: one.Arguments,
		})
	}
}

func (d *Dialect) approve(eventID string, item newItem) {
	if item.ApprovalRequestID == "" || item.Approve == nil {
		d.refuse(eventID, &refusal{code: "missing_required_parameter", message: "An mcp_approval_response needs approval_request_id, a string, and approve, a boolean.", param: "item"})
		return
	}
	d.do(live.Approve{CommandID: eventID, RequestID: item.ApprovalRequestID, Approved: *item.Approve, Reason: item.Reason})
}

func (d *Dialect) checkItemID(id string) *refusal {
	if len(id) > maxIDBytes || id == sessions.AtFront || strings.ContainsRune(id, 0) {
		return invalid("item.id", `An item's id has at most 128 bytes, none of them 0, and is not "root".`)
	}
	if _, taken := d.items.sure(id); taken {
		return &refusal{code: "item_create_duplicate_id", message: "There is an item with the id " + quote(id) + " already.", param: "item.id"}
	}
	return nil
}

func (d *Dialect) retrieveItem(f frame) {
	if f.ItemID == "" {
		d.refuse(f.EventID, missing("item_id"))
		return
	}
	if item, known := d.items.sure(f.ItemID); known {
		d.send(&retrievedEvent{head{Type: "conversation.item.retrieved"}, item})
		return
	}
	d.do(live.Retrieve{CommandID: f.EventID, ItemID: f.ItemID})
}

func (d *Dialect) deleteItem(f frame) {
	if f.ItemID == "" {
		d.refuse(f.EventID, missing("item_id"))
		return
	}
	if d.items.asks(f.ItemID) { // it is this socket's only
		d.dropItem(live.ItemRemoved{ItemID: f.ItemID})
		return
	}
	d.items.doubt(f.ItemID)
	d.do(live.Remove{CommandID: f.EventID, ItemID: f.ItemID})
}

func (d *Dialect) truncateItem(f frame) {
	switch {
	case f.ItemID == "":
		d.refuse(f.EventID, missing("item_id"))
	case f.AudioEndMS == nil:
		d.refuse(f.EventID, missing("audio_end_ms"))
	case f.ContentIndex != 0:
		d.refuse(f.EventID, invalid("content_index", "The items of the agent have one content part: content_index is 0."))
	default:
		d.items.doubt(f.ItemID)
		d.do(live.Truncate{CommandID: f.EventID, ItemID: f.ItemID, AudioEndMS: *f.AudioEndMS})
	}
}

func missing(param string) *refusal {
	return &refusal{code: "missing_required_parameter", message: "The event needs " + param + ".", param: param}
}

func (d *Dialect) cancelResponse(f frame) {
	d.do(live.Cancel{CommandID: f.EventID, ResponseID: f.ResponseID})
}

// appendAudio says once that nobody listens: a microphone sends fifty of these a second.
func (d *Dialect) appendAudio(f frame) {
	var audio []byte
	if present(f.Audio) && json.Unmarshal(f.Audio, &audio) != nil || !present(f.Audio) {
		d.refuse(f.EventID, invalid("audio", "audio is audio data in Base64."))
		return
	}
	if !d.audioRefused {
		d.audioRefused = true
		d.refuse(f.EventID, d.deaf())
	}
	if d.channel != sessions.ChatChannel {
		d.do(live.AudioAppend{CommandID: f.EventID, Data: audio, BytesPerMS: d.audio.input.bytesPerMS()})
	}
}

func (d *Dialect) commitAudio(f frame) {
	if d.channel == sessions.ChatChannel {
		d.refuse(f.EventID, &refusal{code: "input_audio_buffer_commit_empty", message: d.deaf().message})
		return
	}
	d.do(live.AudioCommit{CommandID: f.EventID})
}

func (d *Dialect) deaf() *refusal {
	if d.channel == sessions.ChatChannel {
		return &refusal{code: string(fault.SessionModality), message: "This is the chat socket: send text with conversation.item.create, or speak on the session's ws_url."}
	}
	return &refusal{code: string(fault.STTNotConfigured), message: "No transcriber is configured, so audio is not heard. Send text with conversation.item.create; it is answered in text."}
}

func (d *Dialect) clearInput(frame) {
	d.do(live.AudioClear{})
	d.send(&plainEvent{head{Type: "input_audio_buffer.cleared"}})
}

func (d *Dialect) clearOutput(frame) {
	d.send(&outputClearedEvent{head{Type: "output_audio_buffer.cleared"}, d.response})
}

// rawText is a JSON value as the string the protocol wants arguments in.
func rawText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	return string(raw)
}
