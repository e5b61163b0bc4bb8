package openai

import (
	"encoding/json"
	"strings"

	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
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
	d.audio, command.CommandID = audio, f.EventID
	d.do(command)
}

// createItem adds to the end of the conversation wherever previous_item_id points: the core keeps
// items in the order they were said, and conversation.item.added tells the true place.
func (d *Dialect) createItem(f frame) {
	var item newItem
	if refused := decode(f.Item, "item", &item); refused != nil {
		d.refuse(f.EventID, refused)
		return
	}
	if refused := d.checkItemID(item.ID); refused != nil {
		d.refuse(f.EventID, refused)
		return
	}
	switch item.Type {
	case "message":
		text, refused := userText(item)
		if refused != nil {
			d.refuse(f.EventID, refused)
			return
		}
		d.do(conversation.UserMessage{CommandID: f.EventID, ItemID: item.ID, Text: text})
	case "function_call_output":
		if item.CallID == "" || item.Output == nil {
			d.refuse(f.EventID, &refusal{code: "missing_required_parameter", message: "A function_call_output needs call_id and output, both strings.", param: "item"})
			return
		}
		d.do(conversation.ToolOutput{CommandID: f.EventID, ItemID: item.ID, CallID: item.CallID, Output: *item.Output})
	case "mcp_approval_response":
		if item.ApprovalRequestID == "" || item.Approve == nil {
			d.refuse(f.EventID, &refusal{code: "missing_required_parameter", message: "An mcp_approval_response needs approval_request_id, a string, and approve, a boolean.", param: "item"})
			return
		}
		d.do(conversation.Approve{CommandID: f.EventID, RequestID: item.ApprovalRequestID, Approved: *item.Approve, Reason: item.Reason})
	default:
		d.refuse(f.EventID, invalid("item.type", "Items of the types message, function_call_output and mcp_approval_response can be created, not "+quote(item.Type)+"."))
	}
}

func (d *Dialect) checkItemID(id string) *refusal {
	if len(id) > maxIDBytes {
		return invalid("item.id", "An item's id has at most 128 bytes.")
	}
	if _, taken := d.items.byID[id]; taken {
		return &refusal{code: "item_create_duplicate_id", message: "There is an item with the id " + quote(id) + " already.", param: "item.id"}
	}
	return nil
}

// userText is what a user's message says, its parts joined by line breaks.
func userText(item newItem) (string, *refusal) {
	if item.Role != "user" {
		return "", invalid("item.role", "Only messages of the role user can be created; instructions are the agent's, or session.update's where it allows that.")
	}
	var texts []string
	for _, c := range item.Content {
		if c.Type != "input_text" {
			return "", invalid("item.content", "The content of a message is input_text, not "+quote(c.Type)+".")
		}
		texts = append(texts, c.Text)
	}
	text := strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" {
		return "", &refusal{code: "missing_required_parameter", message: "A message needs content of the type input_text that says something.", param: "item.content"}
	}
	return text, nil
}

func (d *Dialect) retrieveItem(f frame) {
	item, known := d.items.byID[f.ItemID]
	if !known {
		d.refuse(f.EventID, unknownItem("retrieve", f.ItemID))
		return
	}
	d.send(&retrievedEvent{head{Type: "conversation.item.retrieved"}, item})
}

// deleteItem refuses: what was said stays in the transcript and before the model, and to say
// "deleted" would be a lie somebody may rely on.
func (d *Dialect) deleteItem(f frame) {
	if _, known := d.items.byID[f.ItemID]; !known {
		d.refuse(f.EventID, unknownItem("delete", f.ItemID))
		return
	}
	d.refuse(f.EventID, &refusal{code: string(fault.NotImplemented), message: "Items cannot be deleted: the transcript keeps what was said.", param: "item_id"})
}

func (d *Dialect) truncateItem(f frame) {
	if _, known := d.items.byID[f.ItemID]; !known {
		d.refuse(f.EventID, unknownItem("truncate", f.ItemID))
		return
	}
	d.refuse(f.EventID, invalid("item_id", "Only audio of the agent can be truncated; this item is text."))
}

func unknownItem(verb, id string) *refusal {
	return &refusal{code: "item_" + verb + "_invalid_item_id", message: "There is no item with the id " + quote(id) + ".", param: "item_id"}
}

func (d *Dialect) createResponse(f frame) {
	var wanted newResponse
	if present(f.Response) {
		if refused := decode(f.Response, "response", &wanted); refused != nil {
			d.refuse(f.EventID, refused)
			return
		}
	}
	if refused := checkResponse(wanted); refused != nil {
		d.refuse(f.EventID, refused)
		return
	}
	command := conversation.Respond{CommandID: f.EventID, Instructions: wanted.Instructions}
	if len(wanted.Metadata) > 0 && len(d.metadata) < maxWaitingMetadata {
		if command.CommandID == "" {
			command.CommandID = idgen.New(idgen.Request)
		}
		d.metadata[command.CommandID] = wanted.Metadata
	}
	d.do(command)
}

// Bounds of a response's metadata, which are OpenAI's, and how many may wait for their response.
const (
	maxMetadataPairs   = 16
	maxMetadataKey     = 64
	maxMetadataValue   = 512
	maxWaitingMetadata = 64
)

func checkResponse(wanted newResponse) *refusal {
	if wanted.Conversation == "none" {
		return invalid("response.conversation", "Responses outside the conversation are not there; leave conversation out.")
	}
	if len(wanted.Input) > 0 {
		return invalid("response.input", "A response answers the conversation; create items instead of sending input.")
	}
	if len(wanted.Metadata) > maxMetadataPairs {
		return invalid("response.metadata", "metadata has at most 16 pairs.")
	}
	for key, value := range wanted.Metadata {
		if len(key) > maxMetadataKey || len(value) > maxMetadataValue {
			return invalid("response.metadata", "metadata has keys of at most 64 and values of at most 512 bytes.")
		}
	}
	return nil
}

func (d *Dialect) cancelResponse(f frame) {
	d.do(conversation.Cancel{CommandID: f.EventID, ResponseID: f.ResponseID})
}

// appendAudio says once that nobody listens: a microphone sends fifty of these a second.
func (d *Dialect) appendAudio(f frame) {
	if d.audioRefused {
		return
	}
	d.audioRefused = true
	d.refuse(f.EventID, d.deaf())
}

func (d *Dialect) commitAudio(f frame) {
	d.refuse(f.EventID, &refusal{code: "input_audio_buffer_commit_empty", message: d.deaf().message})
}

func (d *Dialect) deaf() *refusal {
	if d.channel == conversation.ChatChannel {
		return &refusal{code: string(fault.SessionModality), message: "This is the chat socket: send text with conversation.item.create, or speak on the session's ws_url."}
	}
	return &refusal{code: string(fault.STTNotConfigured), message: "No transcriber is configured, so audio is not heard. Send text with conversation.item.create; it is answered in text."}
}

func (d *Dialect) clearInput(frame) {
	d.send(&plainEvent{head{Type: "input_audio_buffer.cleared"}})
}

func (d *Dialect) clearOutput(frame) {
	d.send(&plainEvent{head{Type: "output_audio_buffer.cleared"}})
}

// rawText is a JSON value as the string the protocol wants arguments in.
func rawText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	return string(raw)
}
