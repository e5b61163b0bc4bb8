package openai

import (
	"encoding/json"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/voice"
)

// maxIDBytes bounds an id that a client chooses. Those of SDKs have about 30 bytes.
const maxIDBytes = 128

func (d *Dialect) updateSession(e clientEvent) {
	if !dialect.IsObject(e.Session) {
		d.refuse(e.EventID, missingParameter("session", "session.update needs an object session."))
		return
	}
	audio, command, refused := d.configure(e.Session)
	if refused != nil {
		d.refuse(e.EventID, refused)
		return
	}
	for _, unsupported := range unsupportedSettings(e.Session) {
		d.refuse(e.EventID, unsupported)
	}
	d.audio, command.CommandID = audio, e.EventID
	d.configureVoice()
	d.step.Command(command)
}

func (d *Dialect) createItem(e clientEvent) {
	var item newItem
	if refused := decode(e.Item, "item", &item); refused != nil {
		d.refuse(e.EventID, refused)
		return
	}
	if refused := d.checkItemID(item.ID); refused != nil {
		d.refuse(e.EventID, refused)
		return
	}
	if item.Type == "mcp_approval_response" {
		d.approve(e.EventID, item)
		return
	}
	read, refused := readItem(item, "item")
	if refused != nil {
		d.refusedItem = item.ID
		d.refuse(e.EventID, refused)
		return
	}
	after := d.items.conversationItem(e.PreviousItemID)
	switch read.Kind {
	case sessions.UserItem:
		d.step.Command(live.UserMessage{CommandID: e.EventID, ItemID: read.ID, After: after, Text: read.Text})
	case sessions.ToolOutputItem:
		d.step.Command(live.ToolOutput{
			CommandID: e.EventID, ItemID: read.ID, After: after, CallID: read.CallID, Output: read.Text,
		})
	default:
		d.step.Command(live.Insert{
			CommandID: e.EventID, ItemID: read.ID, After: after, Kind: read.Kind,
			Text: read.Text, CallID: read.CallID, Name: read.Name, Arguments: read.Arguments,
		})
	}
}

func (d *Dialect) approve(eventID string, item newItem) {
	if item.ApprovalRequestID == "" || item.Approve == nil {
		d.refuse(eventID, missingParameter("item",
			"An mcp_approval_response needs approval_request_id, a string, and approve, a boolean."))
		return
	}
	d.step.Command(live.Approve{
		CommandID: eventID, RequestID: item.ApprovalRequestID, Approved: *item.Approve, Reason: item.Reason,
	})
}

func (d *Dialect) checkItemID(id string) *refusal {
	if len(id) > maxIDBytes || id == sessions.AtFront || strings.ContainsRune(id, 0) {
		return invalid("item.id", `An item's id has at most 128 bytes, none of them 0, and is not "root".`)
	}
	if _, taken := d.items.current(id); taken {
		return &refusal{
			code: "item_create_duplicate_id", param: "item.id",
			message: "There is an item with the id " + dialect.Quote(id) + " already.",
		}
	}
	return nil
}

func (d *Dialect) retrieveItem(e clientEvent) {
	if e.ItemID == "" {
		d.refuse(e.EventID, missing("item_id"))
		return
	}
	if item, known := d.items.current(e.ItemID); known {
		d.send(&retrievedEvent{head{Type: "conversation.item.retrieved"}, item})
		return
	}
	d.step.Command(live.Retrieve{CommandID: e.EventID, ItemID: e.ItemID})
}

func (d *Dialect) deleteItem(e clientEvent) {
	if e.ItemID == "" {
		d.refuse(e.EventID, missing("item_id"))
		return
	}
	if d.items.isApprovalRequest(e.ItemID) { // the conversation does not know it
		d.removeItem(live.ItemRemoved{ItemID: e.ItemID})
		return
	}
	d.items.markChanging(e.ItemID)
	d.step.Command(live.Remove{CommandID: e.EventID, ItemID: e.ItemID})
}

func (d *Dialect) truncateItem(e clientEvent) {
	switch {
	case e.ItemID == "":
		d.refuse(e.EventID, missing("item_id"))
	case e.AudioEndMS == nil:
		d.refuse(e.EventID, missing("audio_end_ms"))
	case e.ContentIndex != 0:
		d.refuse(e.EventID, invalid("content_index",
			"The items of the agent have one content part: content_index is 0."))
	default:
		d.items.markChanging(e.ItemID)
		d.step.Command(live.Truncate{CommandID: e.EventID, ItemID: e.ItemID, AudioEndMS: *e.AudioEndMS})
	}
}

func (d *Dialect) cancelResponse(e clientEvent) {
	d.step.Command(live.Cancel{CommandID: e.EventID, ResponseID: e.ResponseID})
}

// appendAudio refuses audio once, though a microphone sends fifty of these events a second.
func (d *Dialect) appendAudio(e clientEvent) {
	var audio []byte
	if !dialect.IsPresent(e.Audio) || json.Unmarshal(e.Audio, &audio) != nil {
		d.refuse(e.EventID, invalid("audio", "audio is audio data in Base64."))
		return
	}
	if d.channel == sessions.ChatChannel {
		if !d.audioRefused {
			d.audioRefused = true
			d.refuse(e.EventID, d.noAudio())
		}
		return
	}
	if len(audio) > voice.MaxAppendBytes {
		d.refuse(e.EventID, invalid("audio", "An append has at most 15 MiB of audio."))
		return
	}
	d.step.Command(voice.Append{CommandID: e.EventID, Data: audio})
}

// configureVoice has the socket's call go by the client's settings.
func (d *Dialect) configureVoice() {
	if d.channel == sessions.ChatChannel {
		return
	}
	detection, textOnly := d.audio.detection, d.audio.textOnly
	d.step.Command(voice.Configure{
		TextOnly: &textOnly,
		Input:    d.audio.input.audio(), Output: d.audio.output.audio(), Detection: &detection, Speed: d.audio.speed,
		Transcription: d.transcriptionLanguage(),
	})
}

// transcriptionLanguage is the language that the client has chosen for transcripts; nil: it has
// chosen none.
func (d *Dialect) transcriptionLanguage() *string {
	var chosen transcription
	if json.Unmarshal(d.audio.transcription, &chosen) != nil { // it was checked
		return nil
	}
	return chosen.Language
}

// commitAudio ends what the user is saying.
func (d *Dialect) commitAudio(e clientEvent) {
	if d.channel == sessions.ChatChannel {
		d.refuse(e.EventID, &refusal{
			code: "input_audio_buffer_commit_empty", message: d.noAudio().message,
		})
		return
	}
	d.step.Command(voice.Commit{CommandID: e.EventID})
}

// noAudio is the error of a socket that takes no audio.
func (d *Dialect) noAudio() *refusal {
	return &refusal{code: string(fault.SessionModality), message: "This is the chat socket: send text" +
		" with conversation.item.create, or speak on the session's ws_url."}
}

// clearInput forgets what the user has said and not committed.
func (d *Dialect) clearInput(clientEvent) {
	if d.channel != sessions.ChatChannel { // InputCleared answers it
		d.step.Command(voice.Clear{})
		return
	}
	d.send(&plainEvent{head{Type: "input_audio_buffer.cleared"}})
}

// clearOutput stops what the agent is saying.
func (d *Dialect) clearOutput(clientEvent) {
	if d.channel != sessions.ChatChannel {
		d.step.Command(voice.ClearOutput{})
	}
	d.send(&outputClearedEvent{head{Type: "output_audio_buffer.cleared"}, d.lastResponse})
}
